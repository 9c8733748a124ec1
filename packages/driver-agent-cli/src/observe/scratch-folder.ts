import { lstat, mkdir, mkdtemp, readdir, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '@agentproto/contracts'
import type { AgentCliManifest } from '@agentproto/manifest'
import { endProcesses, findMarkedProcesses } from '@agentproto/subprocess'
import { homeAt } from '../launch/agent-home.js'
import { removeFolder } from './remove-folder.js'

const NAME = 'agentproto-observe-'
/** An observation ends within minutes. What is older was left by a host that was killed. */
const STALE_MS = 30 * 60_000

/** Folders for one observation of an agent. */
export interface ScratchFolder {
  readonly path: string
  /** In which the agent works. */
  readonly work: string
  /** Its home. */
  readonly home: string
  /** For its temporary files. */
  readonly temporary: string
  /** Of the processes that have to do with it. */
  readonly marker: string
}

/** Runs with new folders, and removes them with everything in them. */
export async function inScratchFolder<T>(clock: Clock, run: (scratch: ScratchFolder) => Promise<T>): Promise<T> {
  await removeStale(clock)
  const path = await realpath(await mkdtemp(join(tmpdir(), NAME)))
  try {
    const inside = { work: join(path, 'work'), home: join(path, 'home'), temporary: join(path, 'tmp') }
    for (const folder of Object.values(inside)) await mkdir(folder, { mode: 0o700 })
    return await run({ path, ...inside, marker: markerAt(clock.now()) })
  } finally {
    await removeFolder(path)
  }
}

/** What leads an agent there, on every system. */
export function scratchVariables(
  { home, temporary }: ScratchFolder,
  manifest: Pick<AgentCliManifest, 'metadata'>,
): Readonly<Record<string, string>> {
  const more = { APPDATA: home, LOCALAPPDATA: home, XDG_RUNTIME_DIR: home }
  return { ...more, ...homeAt(home, manifest).variables, TMPDIR: temporary, TMP: temporary, TEMP: temporary }
}

/** With its time, by which what was left behind is found. */
const markerAt = (now: number): string => `observe_${now.toString(36)}_${crypto.randomUUID()}`

/** Ends and removes what a host left that was killed while it observed an agent. */
async function removeStale(clock: Clock): Promise<void> {
  const before = clock.now() - STALE_MS
  const left = findMarkedProcesses().filter(({ marker }) => timeOf(marker) < before)
  if (left.length > 0) await endProcesses(left, { termGraceMs: 1_000 }, clock).catch(() => {})
  const names = await readdir(tmpdir()).catch(() => [])
  for (const name of names) {
    const path = join(tmpdir(), name)
    if (name.startsWith(NAME) && (await isOwnAndOlder(path, before))) await removeFolder(path).catch(() => {})
  }
}

const timeOf = (marker: string): number => {
  const [, time = ''] = /^observe_([0-9a-z]{1,10})_/.exec(marker) ?? []
  return time === '' ? Infinity : Number.parseInt(time, 36)
}

/** The folder of temporary files belongs to all users. */
async function isOwnAndOlder(path: string, before: number): Promise<boolean> {
  const state = await lstat(path).catch(() => undefined)
  return state !== undefined && state.isDirectory() && state.uid === process.getuid?.() && state.mtimeMs < before
}
