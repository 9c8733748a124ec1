import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@agentproto/client'
import type { ChangesQuery } from '@agentproto/contracts/wire'
import { expect } from 'vitest'
import { temporaryFolder } from './temporary-folder.js'

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

/** A repository with one commit on `main`, an ignored file, and a file that is not committed. */
export function shopRepository(): string {
  const folder = join(temporaryFolder('work'), 'shop')
  mkdirSync(join(folder, 'src'), { recursive: true })
  git(folder, 'init', '-q', '-b', 'main')
  git(folder, 'config', 'user.name', 'Ada')
  git(folder, 'config', 'user.email', 'ada@example.com')
  writeFileSync(join(folder, 'src', 'main.ts'), 'export const a = 1\r\nexport const b = 2\r\n')
  writeFileSync(join(folder, 'old.txt'), 'no newline at the end')
  writeFileSync(join(folder, 'tool.sh'), 'echo hello\n')
  chmodSync(join(folder, 'tool.sh'), 0o755)
  symlinkSync('tool.sh', join(folder, 'link'))
  writeFileSync(join(folder, '.gitignore'), '.env\n')
  git(folder, 'add', '-A')
  git(folder, 'commit', '-q', '-m', 'first')
  writeFileSync(join(folder, '.env'), 'KEY=value\n')
  writeFileSync(join(folder, 'image.bin'), Buffer.from([0, 255, 10, 13, 0]))
  return folder
}

/** What the agent is asked for: the same changes for every agent, in its own words. */
export interface ThreeTurns {
  /** Adds `notes.md`. */
  readonly add: string
  /** Deletes `old.txt` and renames `src/main.ts` to `lib/main.ts`. */
  readonly deleteAndRename: string
  /** Replaces the one line of `notes.md`. */
  readonly change: string
}

/** What is said to have changed, as {@link changed} has it. */
interface ListedChanges {
  readonly byTurn: readonly (readonly string[])[]
  readonly sinceStart: readonly string[]
  /** The review is after the first turn. */
  readonly sinceReview: readonly string[]
  readonly backwards: readonly string[]
}

/** What {@link reviewThreeTurns} must find. */
export const THREE_TURNS: ListedChanges = {
  byTurn: [['added notes.md'], ['deleted old.txt', 'renamed src/main.ts lib/main.ts'], ['modified notes.md']],
  sinceStart: ['added notes.md', 'deleted old.txt', 'renamed src/main.ts lib/main.ts'],
  sinceReview: ['deleted old.txt', 'modified notes.md', 'renamed src/main.ts lib/main.ts'],
  backwards: ['added old.txt', 'renamed lib/main.ts src/main.ts'],
}

export interface ReviewedSession {
  readonly client: Client
  readonly id: string
  /** Where the session runs: the folder of {@link shopRepository}. */
  readonly folder: string
}

/** Three turns and a review; the patch of all is right, and rewinds back and forth restore every byte. */
export async function reviewThreeTurns(session: ReviewedSession, turns: ThreeTurns): Promise<ListedChanges> {
  const { client, id, folder } = session
  const original = temporaryFolder('original')
  cpSync(folder, original, { recursive: true, verbatimSymlinks: true })
  const trees = [treeOf(folder)]
  for (const prompt of [turns.add, turns.deleteAndRename, turns.change]) {
    await work(session, prompt)
    trees.push(treeOf(folder))
    if (prompt === turns.add) await client.changes.markReviewed(id)
  }
  const listed = {
    byTurn: await Promise.all([1, 2, 3].map((turn) => changed(session, { turn }))),
    sinceStart: await changed(session),
    sinceReview: await changed(session, { from: 'reviewed' }),
    backwards: await changed(session, { from: 2, to: 1 }),
  }
  execFileSync('git', ['apply', '-'], { cwd: original, input: await patchOf(session) })
  expect(treeOf(original)).toEqual(trees[3])
  await rewindBackAndForth(session, trees)
  return listed
}

async function rewindBackAndForth({ client, id, folder }: ReviewedSession, trees: readonly object[]): Promise<void> {
  const dry = await client.changes.rewind(id, { turn: 1, dryRun: true })
  expect(treeOf(folder)).toEqual(trees[3])
  const { changed: done, kept, before = '' } = await client.changes.rewind(id, { turn: 1 })
  expect({ changed: done, kept }).toEqual({ changed: dry.changed, kept: [] })
  expect(treeOf(folder)).toEqual(trees[1])
  for (const turn of [3, 0, 2]) {
    await client.changes.rewind(id, { turn })
    expect(treeOf(folder)).toEqual(trees[turn])
  }
  await client.changes.rewind(id, { checkpoint: before })
  expect(treeOf(folder)).toEqual(trees[3])
}

/** What two sessions are told to do in a worktree each. */
export interface TwoTasks {
  readonly adapter: string
  /** The prompt that writes a file into the session's folder. */
  readonly write: (name: string) => string
}

/** Two sessions in two worktrees of one repository work at once, and both are merged. @returns the new files of `main` */
export async function mergeTwoWorktrees(client: Client, { adapter, write }: TwoTasks): Promise<string[]> {
  const repository = shopRepository()
  const untouched = treeOf(repository)
  const start = (branch: string) =>
    client.sessions.start({ adapter, cwd: repository, worktree: { branch }, permissionMode: 'approve-all' })
  const [one, two] = await Promise.all([start('one'), start('two')])
  const folders = [one.cwd, two.cwd]
  expect(new Set([repository, ...folders]).size).toBe(3)
  await Promise.all([
    work({ client, id: one.id, folder: one.cwd }, write('one.txt')),
    work({ client, id: two.id, folder: two.cwd }, write('two.txt')),
  ])
  expect(treeOf(repository)).toEqual(untouched)
  expect(await changed({ client, id: one.id, folder: one.cwd })).toEqual(['added one.txt'])
  expect(await changed({ client, id: two.id, folder: two.cwd })).toEqual(['added two.txt'])
  expect(await client.changes.list(two.id)).toMatchObject({ shared: false })
  for (const { id } of [one, two]) {
    expect(await client.sessions.merge(id)).toMatchObject({ into: 'main' })
    await client.sessions.kill(id)
    await client.sessions.discard(id)
  }
  expect(git(repository, 'status', '--porcelain')).toBe('?? image.bin')
  expect(git(repository, 'branch', '--format=%(refname:short)')).toBe('main')
  expect(git(repository, 'worktree', 'list').split('\n')).toHaveLength(1)
  return Object.keys(treeOf(repository)).filter((path) => !(path in untouched))
}

/** One turn; resolves when the folder was recorded after it. */
async function work({ client, id }: ReviewedSession, prompt: string): Promise<void> {
  const { number, reason } = await client.sessions.promptAndWait(id, { prompt })
  expect(reason).toBe('end_turn')
  for await (const event of client.sessions.events(id)) {
    expect(event.type).not.toBe('checkpoint-skipped')
    if (event.type === 'checkpoint' && event.turn === number) return
  }
}

/** The changed files, sorted: `renamed old new`. */
async function changed({ client, id }: ReviewedSession, query?: ChangesQuery): Promise<string[]> {
  const { files } = await client.changes.list(id, query)
  return files
    .map(({ status, oldPath, path }) => [status, ...(oldPath === undefined ? [] : [oldPath]), path].join(' '))
    .toSorted()
}

async function patchOf({ client, id }: ReviewedSession): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of client.changes.diff(id)) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** Each file of a folder but those of git, by path: its bytes and its mode, or its link. */
function treeOf(folder: string): Readonly<Record<string, string>> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(folder.length + 1)
    if (entry.isDirectory() || name === '.git' || name.startsWith('.git/')) return []
    if (entry.isSymbolicLink()) return [[name, `link ${readlinkSync(path)}`]]
    return [[name, `${(lstatSync(path).mode & 0o777).toString(8)} ${readFileSync(path, 'latin1')}`]]
  })
  return Object.fromEntries(entries.toSorted(([one = ''], [two = '']) => one.localeCompare(two))) as Record<
    string,
    string
  >
}
