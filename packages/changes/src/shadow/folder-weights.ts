/** How much each folder has of something: files or bytes. */
export class FolderWeights {
  total = 0
  readonly #weights = new Map<string, number>()
  readonly #children = new Map<string, Set<string>>()

  /** Adds a file, by its path with `/`. */
  add(path: string, weight: number): void {
    this.total += weight
    for (let end = path.lastIndexOf('/'); end >= 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end + 1)
      const before = this.#weights.get(folder)
      this.#weights.set(folder, (before ?? 0) + weight)
      if (before === undefined) this.#adopt(folder)
    }
  }

  /**
   * The folder to leave out: from the top, the heaviest one, and inside of it the one that has most of it.
   * @param top only folders below it; with `/` at its end, or empty
   */
  heaviest(top: string): string | undefined {
    let found = this.#heaviestIn(top)
    if (found === undefined) return undefined
    for (let inner = this.#heaviestIn(found); inner !== undefined; inner = this.#heaviestIn(found)) {
      if (this.#weight(inner) * 2 <= this.#weight(found)) break
      found = inner
    }
    return found
  }

  /** Forgets a folder and all below it. */
  remove(folder: string): void {
    const weight = this.#weight(folder)
    this.total -= weight
    for (let end = folder.length - 1; end >= 0; end = folder.lastIndexOf('/', end - 1)) {
      const above = folder.slice(0, end + 1)
      this.#weights.set(above, this.#weight(above) - weight)
    }
  }

  #heaviestIn(folder: string): string | undefined {
    let found: string | undefined
    for (const child of this.#children.get(folder) ?? [])
      if (this.#weight(child) > (found === undefined ? 0 : this.#weight(found))) found = child
    return found
  }

  #weight(folder: string): number {
    return this.#weights.get(folder) ?? 0
  }

  #adopt(folder: string): void {
    const parent = folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1)
    const siblings = this.#children.get(parent)
    if (siblings === undefined) this.#children.set(parent, new Set([folder]))
    else siblings.add(folder)
  }
}
