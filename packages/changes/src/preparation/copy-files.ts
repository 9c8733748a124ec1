import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises'
import { AgentprotoError } from '@agentproto/contracts'
import { codeOf } from '../git-errors.js'
import { ContainedFolder, InTheWay } from '../rewind/contained-folder.js'

/** Files of all patterns together. */
const MAX_FILES = 1_000
const MAX_BYTES = 10 << 20

interface Folders {
  readonly from: string
  readonly to: string
}

/**
 * Copies regular files from one folder to another, at the same paths. No link is followed, on either side, and what is there is
 * never replaced.
 * @returns the paths that were copied
 * @throws `worktree_setup_failed` for too many files, or one that is too large
 */
export async function copyFiles(patterns: readonly string[], folders: Folders): Promise<readonly string[]> {
  const from = new ContainedFolder(folders.from)
  const to = new ContainedFolder(folders.to)
  const copied: string[] = []
  for (const path of await matching(patterns, from)) if (await copyFile(path, from, to)) copied.push(path)
  return copied
}

async function matching(patterns: readonly string[], from: ContainedFolder): Promise<readonly string[]> {
  const found = new Set<string>()
  for (const pattern of patterns) {
    for (const path of await expand(pattern.split('/'), from)) found.add(path)
    if (found.size > MAX_FILES) throw tooMuch(`at most ${MAX_FILES} files`, pattern)
  }
  return [...found]
}

async function expand(names: readonly string[], from: ContainedFolder): Promise<readonly string[]> {
  let paths: readonly string[] = ['']
  for (const name of names) {
    paths = (await Promise.all(paths.map((path) => below(path, name, from)))).flat()
    if (paths.length > MAX_FILES) throw tooMuch(`at most ${MAX_FILES} files`, names.join('/'))
  }
  return paths
}

async function below(path: string, name: string, from: ContainedFolder): Promise<readonly string[]> {
  const names = name.includes('*') ? (await namesIn(path, from)).filter((each) => matchesName(name, each)) : [name]
  return names.map((each) => (path === '' ? each : `${path}/${each}`))
}

async function namesIn(path: string, from: ContainedFolder): Promise<readonly string[]> {
  // The folder is entered as a parent, so that it is no link.
  const entry = { path: path === '' ? '.' : `${path}/.` }
  const names = await ifThere(() => from.inParent(entry, ({ at }) => readdir(at)))
  return (names ?? []).filter((name) => name.toLowerCase() !== '.git')
}

/** `*` stands for any characters; each part is found from where the one before it ended. */
function matchesName(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  if (rest.length === 0) return pattern === name
  const last = rest.pop() ?? ''
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last)) return false
  let at = first.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= name.length - last.length
}

async function copyFile(path: string, from: ContainedFolder, to: ContainedFolder): Promise<boolean> {
  const file = await ifThere(() => from.inParent({ path }, ({ at }) => readRegular(at, path)))
  if (file === undefined) return false
  return to.inParent({ path, create: true }, async ({ at }) => {
    if ((await lstat(at).catch(() => undefined)) !== undefined) return false
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
    const target = await open(at, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, file.mode)
    try {
      await target.writeFile(file.content)
      return true
    } finally {
      await target.close()
    }
  })
}

async function readRegular(
  at: string | Buffer,
  path: string,
): Promise<{ readonly content: Buffer; readonly mode: number } | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const file: FileHandle = await open(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const stats = await file.stat()
    if (!stats.isFile()) return undefined
    if (stats.size > MAX_BYTES) throw tooMuch(`at most ${MAX_BYTES} bytes`, path)
    return { content: await file.readFile(), mode: stats.mode & 0o777 }
  } finally {
    await file.close()
  }
}

/** A link, a pipe without a writer, or a name that is not there is no file to copy. */
async function ifThere<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (thrown) {
    if (thrown instanceof InTheWay || ABSENT.has(codeOf(thrown) ?? '')) return undefined
    throw thrown
  }
}

const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK', 'ENXIO'])

const tooMuch = (expected: string, given: string): AgentprotoError =>
  new AgentprotoError('worktree_setup_failed', 'The settings of worktrees copy too much', { expected, given })
