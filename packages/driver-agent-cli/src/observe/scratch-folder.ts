import { randomBytes } from 'node:crypto'
import { lstat, mkdir, readdir, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '@agentproto/contracts'
import type { AgentCliManifest } from '@agentproto/manifest'
import { endProcesses, findMarkedProcesses } from '@agentproto/subprocess'
import { homeAt } from '../launch/agent-home.js'
import { makeOwned, OWNER, ownerOf, removeLeftFolder, removeOwned } from './owned-folder.js'

const NAME = 'agentproto-observe-'
/** An observation ends within minutes. What is older, and of an unknown owner, was left by a host that was killed. */
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
  await removeLeftScratch(clock)
  const path = join(await realpath(tmpdir()), `${NAME}${randomBytes(6).toString('hex')}`)
  const marker = markerAt(clock.now())
  await makeOwned(path, marker)
  try {
    const inside = { work: join(path, 'work'), home: join(path, 'home'), temporary: join(path, 'tmp') }
    for (const folder of Object.values(inside)) await mkdir(folder, { mode: 0o700 })
    return await run({ path, ...inside, marker })
  } finally {
    await removeOwned(path)
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

/** Ends and removes what hosts left that were killed while they observed an agent. */
export async function removeLeftScratch(clock: Clock): Promise<void> {
  const before = clock.now() - STALE_MS
  const names = (await readdir(tmpdir()).catch(() => [])).filter((name) => name.startsWith(NAME))
  // Its marker also stands in the environment of what it started, where its folder is gone.
  const left = findMarkedProcesses().filter(({ marker }) => timeOf(marker) < before)
  if (left.length > 0) await endProcesses(left, { termGraceMs: 1_000 }, clock).catch(() => {})
  for (const name of new Set(names.map((each) => each.replace(OWNER_END, ''))))
    await removeIfLeft(join(tmpdir(), name), { clock, before }).catch(() => {})
}

const OWNER_END = new RegExp(`\\${OWNER}$`)

interface Removing {
  readonly clock: Clock
  /** What was changed later may be in use. */
  readonly before: number
}

async function removeIfLeft(path: string, { clock, before }: Removing): Promise<void> {
  const owner = ownerOf(path)
  const isLeft = owner.is === 'ended' || (owner.is === 'unknown' && (await isOlder(path, before)))
  if (isLeft && (await isOwn(path))) await removeLeftFolder(path, owner, clock)
}

const timeOf = (marker: string): number => {
  const [, time = ''] = /^observe_([0-9a-z]{1,10})_/.exec(marker) ?? []
  return time === '' ? Infinity : Number.parseInt(time, 36)
}

/** The folder of temporary files belongs to all users. One that is gone has only its owner left. */
async function isOwn(path: string): Promise<boolean> {
  const state = await lstat(path).catch(() => undefined)
  return state === undefined || (state.isDirectory() && state.uid === process.getuid?.())
}

const isOlder = (path: string, before: number): Promise<boolean> =>
  lstat(path).then(
    ({ mtimeMs }) => mtimeMs < before,
    () => false,
  )
