import { realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { homeLayout } from '@agentproto/contracts/agent'
import { commonDirOf, gitDirAt, isBareRepository, readSmallFile, repositoryTop } from '../git/repository-files.js'
import { Skipped } from '../git-errors.js'

/** How git sees a folder: the folder in which its ignore rules begin, and what of it counts. */
export interface FolderRoot {
  /** The folder itself, or the top of the repository that it is in. */
  readonly workTree: string
  /** The folder below `workTree`, with a `/` at its end; empty for `workTree` itself. */
  readonly prefix: string
  /** Content of the repository's `info/exclude`. */
  readonly excludes: Buffer
  /** Ignore patterns, relative to `workTree`, that no `.gitignore` can revoke. */
  readonly never: readonly string[]
}

/**
 * Reads where a folder is. Of a repository only its `.git` file and its ignore rules are read: never its configuration.
 * @throws {@link Skipped}
 */
export async function findRoot(folder: string, home: string): Promise<FolderRoot> {
  const stats = await stat(folder).catch(() => undefined)
  if (stats?.isDirectory() !== true) throw new Skipped('folder_missing', `${folder} is not a folder.`)
  if ((await realpath(folder)) !== folder) throw new Skipped('folder_missing', `${folder} was replaced by a link.`)
  await refuseInternals(folder)
  const never = await homePatterns(folder, home)
  const top = await repositoryTop(folder)
  if (top === undefined) return { workTree: folder, prefix: '', excludes: Buffer.alloc(0), never: never('') }
  const step = relative(top, folder).split(sep).join('/')
  const prefix = step === '' ? '' : `${step}/`
  return { workTree: top, prefix, excludes: await excludesOf(top), never: never(prefix) }
}

/** The folder alone, without the ignore rules above it: for a folder that these rules ignore as a whole. */
export const withoutParents = async (folder: string, home: string): Promise<FolderRoot> => ({
  workTree: folder,
  prefix: '',
  excludes: Buffer.alloc(0),
  never: (await homePatterns(folder, home))(''),
})

/** A pattern that covers exactly one folder. */
export const folderPattern = (path: string): string => `/${path.replaceAll(/[\\*?[\]! #]/g, '\\$&')}/`

async function refuseInternals(folder: string): Promise<void> {
  for (let at = folder; ; at = dirname(at)) {
    if (at.endsWith(`${sep}.git`) || (await isBareRepository(at)))
      throw new Skipped('repository_internals', `${folder} is a bare repository or inside of a repository's own files.`)
    if (dirname(at) === at) return
  }
}

/** Without them, the checkpoints would be part of the next checkpoint. */
async function homePatterns(folder: string, home: string): Promise<(prefix: string) => readonly string[]> {
  const real = await realpath(home).catch(() => resolve(home))
  const inside = relative(folder, real)
  const store = relative(homeLayout(real).checkpoints, folder)
  if (inside === '' || !isOutside(store)) throw new Skipped('home', `${folder} has agentproto's own files.`)
  if (isOutside(inside)) return () => []
  const below = inside.split(sep).join('/')
  return (prefix) => [folderPattern(prefix + below)]
}

const isOutside = (step: string): boolean => step === '..' || step.startsWith(`..${sep}`) || isAbsolute(step)

async function excludesOf(top: string): Promise<Buffer> {
  const common = await commonDirOf(await gitDirAt(top))
  return (await readSmallFile(join(common, 'info/exclude'))) ?? Buffer.alloc(0)
}
