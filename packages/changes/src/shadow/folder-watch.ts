import { lstat } from 'node:fs/promises'
import { fsPath } from '../git/path-text.js'
import { filterInSlices, inSlices } from '../slice.js'
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
  /** What is above comes first. */
  readonly #folders: readonly string[]
  readonly #before: ReadonlyMap<string, string>

  private constructor(watched: Watched, folders: readonly string[], before: ReadonlyMap<string, string>) {
    this.#watched = watched
    this.#folders = folders
    this.#before = before
  }

  static async begin(watched: Watched): Promise<FolderWatch> {
    const folders = await foldersOf(watched.paths)
    return new FolderWatch(watched, folders, await identitiesOf(watched, folders))
  }

  /** The paths below a folder that was changed, or whose time of change is too new to say. */
  async suspects(): Promise<readonly string[]> {
    const suspected = await this.#suspectFolders()
    if (suspected.size === 0) return []
    return filterInSlices(this.#watched.paths, (path) => suspected.has(parentOf(path)))
  }

  /** With all that are below one. */
  async #suspectFolders(): Promise<ReadonlySet<string>> {
    const after = await identitiesOf(this.#watched, this.#folders)
    const suspected = new Set<string>()
    await inSlices(this.#folders, (folder) => {
      const identity = this.#before.get(folder) ?? ''
      const isSame = identity !== '' && identity === after.get(folder)
      if (!isSame || suspected.has(parentOf(folder))) suspected.add(folder)
    })
    return suspected
  }
}

/** Times of change have steps of some milliseconds: in one, a folder can change twice. */
const NEW_MS = 1_000

/** Empty for what is not a folder, or was changed just now. */
async function identitiesOf({ workTree, now }: Watched, folders: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  await someAtOnce(folders, async (folder) => {
    const stats = await lstat(fsPath(`${workTree}/${folder}`), { bigint: true }).catch(() => undefined)
    const isSettled = stats?.isDirectory() === true && Number(stats.ctimeMs) < now - NEW_MS
    found.set(folder, isSettled ? `${stats.dev} ${stats.ino} ${stats.ctimeNs}` : '')
  })
  return found
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

async function foldersOf(paths: readonly string[]): Promise<readonly string[]> {
  const folders = new Set<string>([''])
  await inSlices(paths, (path) => {
    const unknown: string[] = []
    for (let at = parentOf(path); !folders.has(at); at = parentOf(at)) unknown.push(at)
    for (const folder of unknown.toReversed()) folders.add(folder)
  })
  return [...folders]
}
