import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { asRecord, asString, parseJson } from '@agentproto/contracts'
import { temporaryFolder } from './temporary-folder.js'

const HOMES = fileURLToPath(new URL('../homes', import.meta.url))

/** The archives of homes that earlier commits wrote, the oldest first. */
export const EARLIER_HOMES = readdirSync(HOMES)
  .filter((name) => name.endsWith('.tar.gz'))
  .sort()

/** A home that an earlier commit wrote, unpacked for one test. */
export interface EarlierHome {
  readonly home: string
  /** Of the agent, with its conversations. */
  readonly userHome: string
  /** The folder of its sessions. */
  readonly work: string
  readonly expected: ExpectedHome
}

/** What the commit itself answered, before it stopped. */
export interface ExpectedHome {
  readonly owner: string
  readonly tokens: Readonly<Record<string, string>>
  /** The request that has no answer. */
  readonly pending: string
  readonly sessions: readonly ExpectedSession[]
}

export interface ExpectedSession {
  readonly id: string
  readonly label: string
  readonly turnCount: number
  /** `<seq> <type>` of each event. */
  readonly events: readonly string[]
}

export function unpackHome(archive: string): EarlierHome {
  const folder = temporaryFolder('homes')
  execFileSync('tar', ['-xzf', join(HOMES, archive), '-C', folder])
  const [home, userHome, work] = [join(folder, 'home'), join(folder, 'user'), join(folder, 'work')]
  for (const root of [home, userHome]) moveFolder(root, folder)
  renameCheckpoints(join(home, 'checkpoints'))
  const expected = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as ExpectedHome
  return { home, userHome, work, expected }
}

/** The homes were written below `/srv`. */
function moveFolder(root: string, folder: string): void {
  for (const path of textsOf(root)) writeFileSync(path, readFileSync(path, 'utf8').replaceAll('/srv/', `${folder}/`))
}

const textsOf = (root: string): readonly string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.jsonl?$/.test(name))
    .map((name) => join(root, name))

/** A store of recorded states is named by its folder's path. */
function renameCheckpoints(checkpoints: string): void {
  if (!existsSync(checkpoints)) return
  for (const name of readdirSync(checkpoints)) {
    const about = asRecord(parseJson(readFileSync(join(checkpoints, name, 'folder.json'), 'utf8')))
    const digest = createHash('sha256')
      .update(asString(about['path']) ?? '')
      .digest('hex')
      .slice(0, 32)
    renameSync(join(checkpoints, name), join(checkpoints, digest))
  }
}
