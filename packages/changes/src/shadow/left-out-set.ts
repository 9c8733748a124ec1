import type { LeftOut } from '@agentproto/contracts/agent'

/** The paths that a state does not contain. */
export class LeftOutSet {
  /** By path. */
  readonly paths: readonly LeftOut[]
  /** How many there are, listed or not. */
  readonly count: number
  readonly #files: ReadonlySet<string>
  readonly #folders: readonly string[]

  constructor(paths: readonly LeftOut[], count = paths.length) {
    this.paths = paths
    this.count = count
    this.#files = new Set(paths.map(({ path }) => path))
    this.#folders = paths.map(({ path }) => path).filter((path) => path.endsWith('/'))
  }

  /** Whether a path was left out, also where the list is not complete and it may have been. */
  mayCover(path: string): boolean {
    return this.covers(path) || this.count > this.paths.length
  }

  /** Whether a path is in the list, or below a folder in it. */
  covers(path: string): boolean {
    return this.#files.has(path) || this.#folders.some((folder) => path.startsWith(folder))
  }
}
