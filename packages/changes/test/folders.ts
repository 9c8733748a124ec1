import { execFileSync } from 'node:child_process'
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createChangeStore, type ChangeLimits } from '@agentproto/changes'
import type { Clock } from '@agentproto/contracts'
import type { ChangeStore, Checkpoint, CheckpointRequest, FolderChanges, Patch } from '@agentproto/contracts/agent'
import { expect, onTestFinished } from 'vitest'

/** A temporary folder that is gone after the test. */
export async function tempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'agentproto-changes-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

export interface Subject {
  readonly home: string
  readonly folder: string
  readonly store: ChangeStore
  readonly changes: FolderChanges
}

export interface SubjectOptions {
  readonly limits?: Partial<ChangeLimits>
  readonly git?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly clock?: Clock
}

/** A folder and a home beside it. */
export async function subject(options: SubjectOptions = {}): Promise<Subject> {
  const root = await tempFolder()
  const folder = join(root, 'folder')
  await mkdir(folder)
  return subjectOn(folder, { ...options, home: join(root, 'home') })
}

export async function subjectOn(folder: string, options: SubjectOptions & { readonly home: string }): Promise<Subject> {
  const store = createChangeStore(options)
  return { home: options.home, folder, store, changes: await store.open(folder) }
}

/** Takes a checkpoint, which must not be skipped. */
export async function take(changes: FolderChanges, request: Partial<CheckpointRequest> = {}): Promise<Checkpoint> {
  const result = await changes.checkpoint({ session: 'ses_1', ...request })
  if (result.kind === 'taken') return result.checkpoint
  expect.unreachable(`skipped: ${result.reason}: ${result.detail}`)
}

export type Files = Readonly<Record<string, string>>

/** Writes files by their paths; a text that begins with `-> ` is a link, with `#!` a program. */
export async function write(folder: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const at = join(folder, path)
    await mkdir(dirname(at), { recursive: true })
    await rm(at, { recursive: true, force: true })
    if (content.startsWith('-> ')) await symlink(content.slice(3), at)
    else await writeFile(at, content)
    if (content.startsWith('#!')) await chmod(at, 0o755)
  }
}

/** Every file below a folder, with its content, link or mode; without `.git`. */
export async function read(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  const visit = async (below: Buffer): Promise<void> => {
    for (const name of await readdir(join2(folder, below), { encoding: 'buffer' })) {
      const path = below.length === 0 ? name : Buffer.concat([below, Buffer.from('/'), name])
      const at = join2(folder, path)
      const stats = await lstat(at)
      const key = path.toString('latin1')
      if (name.toString() === '.git') continue
      if (stats.isDirectory()) await visit(path)
      else if (stats.isSymbolicLink()) found[key] = `-> ${(await readlink(at, 'buffer')).toString('latin1')}`
      else found[key] = `${(stats.mode & 0o111) === 0 ? '' : 'x '}${(await readFile(at)).toString('latin1')}`
    }
  }
  await visit(Buffer.alloc(0))
  return found
}

const join2 = (folder: string, path: Buffer): Buffer => Buffer.concat([Buffer.from(`${folder}/`), path])

/** Every file of a folder with its bytes, mode and times: what must not change. */
export async function fingerprint(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const at = join(entry.parentPath, entry.name)
    const stats = await lstat(at, { bigint: true })
    const content = entry.isFile() ? (await readFile(at)).toString('base64') : ''
    found[at] = `${stats.mode} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs} ${stats.ino} ${content}`
  }
  return found
}

export async function patchText(patch: Patch): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of patch) pieces.push(piece)
  return Buffer.concat(pieces).toString('latin1')
}

/** git as a user has it, with an identity. */
export function git(folder: string, ...args: readonly string[]): string {
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  }
  return execFileSync('git', [...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  }).trim()
}
