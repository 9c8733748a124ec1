import { lstat } from 'node:fs/promises'
import { fsPath } from '../git/path-text.js'
import { someAtOnce } from '../some-at-once.js'

export interface Watched {
  /** Real path. */
  readonly workTree: string
  /** Relative to the work tree. */
  readonly paths: readonly string[]
  /** Milliseconds since the epoch. */
  readonly now: number
}

/**
 * Reports whether a folder could have been something else while git read files by their paths: git looks once whether a folder is a
 * link, and a folder that is replaced by one after that leads it anywhere. Moving a folder changes its time of change.
 */
export class FolderWatch {
  readonly #watched: Watched
  readonly #before: ReadonlyMap<string, string>

  private constructor(watched: Watched, before: ReadonlyMap<string, string>) {
    this.#watched = watched
    this.#before = before
  }

  static async begin(watched: Watched): Promise<FolderWatch> {
    return new FolderWatch(watched, await identitiesOf(watched, foldersOf(watched.paths)))
  }

  /** The paths below a folder that was changed, or whose time of change is too new to say. */
  async suspects(): Promise<readonly string[]> {
    const after = await identitiesOf(this.#watched, this.#before.keys())
    const isSame = (folder: string): boolean => {
      const identity = this.#before.get(folder) ?? ''
      return identity !== '' && identity === after.get(folder)
    }
    const trusted = new Map([['', isSame('')]])
    // What is above comes first.
    for (const folder of [...this.#before.keys()].toSorted((a, b) => a.length - b.length))
      if (folder !== '') trusted.set(folder, trusted.get(parentOf(folder)) === true && isSame(folder))
    return this.#watched.paths.filter((path) => trusted.get(parentOf(path)) !== true)
  }
}

/** Times of change have steps of some milliseconds: in one, a folder can change twice. */
const NEW_MS = 1_000

/** Empty for what is not a folder, or was changed just now. */
async function identitiesOf({ workTree, now }: Watched, folders: Iterable<string>): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  await someAtOnce([...folders], async (folder) => {
    const stats = await lstat(fsPath(`${workTree}/${folder}`), { bigint: true }).catch(() => undefined)
    const isSettled = stats?.isDirectory() === true && Number(stats.ctimeMs) < now - NEW_MS
    found.set(folder, isSettled ? `${stats.dev} ${stats.ino} ${stats.ctimeNs}` : '')
  })
  return found
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

function foldersOf(paths: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>([''])
  for (const path of paths) for (let at = parentOf(path); !folders.has(at); at = parentOf(at)) folders.add(at)
  return folders
}
