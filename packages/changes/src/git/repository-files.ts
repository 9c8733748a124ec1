import { constants } from 'node:fs'
import { lstat, open, readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

// What a repository's files say, read without git: git would read the configuration too.

/** A longer file is not read. */
const SMALL_BYTES = 1 << 20

/** The nearest folder at or above that has a `.git`. */
export async function repositoryTop(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    // It may be a link.
    const stats = await stat(join(at, '.git')).catch(() => undefined)
    if (stats?.isDirectory() === true || stats?.isFile() === true) return at
    if (dirname(at) === at) return undefined
  }
}

export async function isBareRepository(folder: string): Promise<boolean> {
  if (!(await isFile(join(folder, 'HEAD')))) return false
  return (await isFolder(join(folder, 'objects'))) && (await isFolder(join(folder, 'refs')))
}

/** The git-dir of a folder with a `.git`: a linked worktree and a submodule have a file that names it. */
export async function gitDirAt(top: string): Promise<string> {
  const dotGit = await realpath(join(top, '.git')).catch(() => join(top, '.git'))
  if (await isFolder(dotGit)) return dotGit
  const named = /^gitdir: (.+)/.exec((await readSmallFile(dotGit))?.toString('utf8') ?? '')?.[1]
  return named === undefined ? dotGit : resolve(top, named.trimEnd())
}

/** The git-dir that the worktrees of a repository share. */
export async function commonDirOf(gitDir: string): Promise<string> {
  const common = (await readSmallFile(join(gitDir, 'commondir')))?.toString('utf8').trim()
  return common === undefined || common === '' ? gitDir : resolve(gitDir, common)
}

/** None for what is not a small file: a pipe would block. */
export async function readSmallFile(path: string): Promise<Buffer | undefined> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const stats = await file.stat()
    return stats.isFile() && stats.size <= SMALL_BYTES ? await readFile(file) : undefined
  } catch {
    return undefined
  } finally {
    await file.close()
  }
}

export const isFile = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined))?.isFile() === true

export const isFolder = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined))?.isDirectory() === true
