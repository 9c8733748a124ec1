import { readlink, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { isInFolder } from '@agentproto/contracts/wire'

/** Where a path leads, links followed, whether it exists or not. */

/** As long as Linux takes. A longer text would also keep a regular expression busy. */
export const MAX_PATH = 4096

/** As many as Linux follows. */
const MAX_LINKS = 40

/**
 * Every place that a path may mean. There are two where a `..` follows a link: the kernel takes the parent of what
 * the link leads to, while many programs cut the name before it.
 * @param bases Absolute folders that a relative path may begin at
 * @returns undefined where that is unknown: too long, NUL, a home folder that a shell would fill in, a loop of links
 */
export async function realPathsOf(path: string, bases: readonly string[]): Promise<readonly string[] | undefined> {
  if (path === '' || path.length >= MAX_PATH || path.includes('\0') || path.startsWith('~')) return undefined
  const places = isAbsolute(path) ? [path] : bases.map((base) => base + sep + path)
  const real = await Promise.all(
    places.flatMap((place) =>
      hasParentStep(place) ? [realPath(resolve(place)), walked(place)] : [realPath(resolve(place))],
    ),
  )
  if (real.length === 0) return undefined
  return real.every((each) => each !== undefined) ? [...new Set(real)] : undefined
}

/**
 * Whether every program reads a path as the same one. Some fill in a home, a variable or a pattern, decode it, cut blanks
 * and quotes off, split lists, or take it for an option or a URI, also by characters that look like these.
 */
export const isPlain = (path: string): boolean =>
  path.length < MAX_PATH &&
  !ODD.test(path) &&
  !Array.from(path).some((char) => char > '~' && /[ -/:;=@`~\\|]/.test(char.normalize('NFKC')))

const ODD = /^[\s~@'"<-]|[\s'"]$|[\p{Cc}\p{Cf}$`%*?{}\\]|[\s,;:|&<>"'=]+[/~.]|^[a-z][\w+.-]+:/iu

/** Whether a path lies in one of these folders, or is one; all are resolved. */
export const isInside = (path: string, folders: readonly string[]): boolean =>
  folders.some((folder) => isInFolder(path, folder))

/** The real path of what exists of it, with the rest; a link that leads to nothing yet is followed too. */
export async function realPath(path: string, links = 0): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code ?? ''
    // What may not be looked at, or loops, could lead anywhere.
    if (!ABSENT.has(code) || links > MAX_LINKS) return undefined
  }
  const parent = dirname(path)
  if (parent === path) return path
  const folder = await realPath(parent, links)
  if (folder === undefined) return undefined
  const name = join(folder, path.slice(parent.endsWith(sep) ? parent.length : parent.length + 1))
  // A write through a link to nothing makes a file where the link points.
  const target = await readlink(name).catch(() => undefined)
  return target === undefined ? name : realPath(resolve(folder, target), links + 1)
}

const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR'])

const hasParentStep = (path: string): boolean => path.split(sep).includes('..')

/** As the kernel goes: a step up is one from where the links have led. */
async function walked(path: string): Promise<string | undefined> {
  let at: string | undefined = resolve(sep)
  for (const step of path.split(sep)) {
    if (step === '' || step === '.') continue
    at = step === '..' ? dirname(at) : await realPath(join(at, step))
    if (at === undefined) return undefined
  }
  return at
}
