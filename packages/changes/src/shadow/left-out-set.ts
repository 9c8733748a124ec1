import type { LeftOut } from '@agentproto/contracts/agent'

/** The paths that a state does not contain. */
export class LeftOutSet {
  /** By path. */
  readonly paths: readonly LeftOut[]
  /** How many there are, listed or not. */
  readonly count: number
  /** Folders with `/` at their end. */
  readonly #known: ReadonlySet<string>

  constructor(paths: readonly LeftOut[], count = paths.length) {
    this.paths = paths
    this.count = count
    this.#known = new Set(paths.map(({ path }) => path))
  }

  /** Whether a path was left out, also where the list is not complete and it may have been. */
  mayCover(path: string): boolean {
    return this.covers(path) || this.count > this.paths.length
  }

  /** Whether a path is in the list, or below a folder in it. */
  covers(path: string): boolean {
    if (this.#known.has(path)) return true
    // Not each folder for each path: an agent can make thousands of both.
    for (let end = path.indexOf('/'); end >= 0 && this.#known.size > 0; end = path.indexOf('/', end + 1))
      if (this.#known.has(path.slice(0, end + 1))) return true
    return false
  }
}
