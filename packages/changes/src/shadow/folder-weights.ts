import { inSlices } from '../slice.js'

/** How much each folder has of something: files or bytes. Adding is cheap, however deep a path is. */
export class FolderWeights {
  total = 0
  /** Of the files that are directly in a folder; with `/` at its end, empty for the top. */
  readonly #own = new Map<string, number>()

  /** Adds a file, by its path with `/`. */
  add(path: string, weight: number): void {
    this.total += weight
    const folder = path.slice(0, path.lastIndexOf('/') + 1)
    this.#own.set(folder, (this.#own.get(folder) ?? 0) + weight)
  }

  /** What folders have with all below them, as of now. */
  tree(): Promise<FolderTree> {
    return FolderTree.of(this.#own)
  }
}

interface Folder {
  readonly path: string
  readonly above: Folder | undefined
  /** By their names. */
  readonly children: Map<string, Folder>
  weight: number
}

/** Folders by what they and all below them weigh. */
export class FolderTree {
  readonly #top: Folder = { path: '', above: undefined, children: new Map(), weight: 0 }
  /** What is above comes first. */
  readonly #folders: Folder[] = [this.#top]

  static async of(weights: ReadonlyMap<string, number>): Promise<FolderTree> {
    const tree = new FolderTree()
    await tree.#build(weights)
    return tree
  }

  get total(): number {
    return this.#top.weight
  }

  /**
   * The folder to leave out: from the top, the heaviest one, and inside of it the one that has most of it.
   * @param top only folders below it; with `/` at its end, or empty
   */
  async heaviest(top: string): Promise<string | undefined> {
    let found = await heaviestIn(this.#find(top))
    if (found === undefined) return undefined
    for (let inner = await heaviestIn(found); inner !== undefined; inner = await heaviestIn(found)) {
      if (inner.weight * 2 <= found.weight) break
      found = inner
    }
    return found.path
  }

  /** Forgets a folder and all below it. */
  remove(path: string): void {
    const folder = this.#find(path)
    const weight = folder?.weight ?? 0
    for (let at = folder; at !== undefined; at = at.above) at.weight -= weight
  }

  async #build(weights: ReadonlyMap<string, number>): Promise<void> {
    let last = this.#top
    await inSlices(weights, ([path, weight]) => {
      last = this.#enter(path, last)
      last.weight += weight
    })
    await inSlices(this.#folders.toReversed(), ({ above, weight }) => {
      if (above !== undefined) above.weight += weight
    })
  }

  /** From another folder: paths come in an order in which the next one has most of its folders in common. */
  #enter(path: string, from: Folder): Folder {
    let at = from
    while (!path.startsWith(at.path)) at = at.above ?? this.#top
    for (let end = path.indexOf('/', at.path.length); end >= 0; end = path.indexOf('/', end + 1))
      at = this.#child(at, path.slice(0, end + 1))
    return at
  }

  #child(above: Folder, path: string): Folder {
    const name = path.slice(above.path.length)
    const known = above.children.get(name)
    if (known !== undefined) return known
    const added: Folder = { path, above, children: new Map(), weight: 0 }
    above.children.set(name, added)
    this.#folders.push(added)
    return added
  }

  #find(path: string): Folder | undefined {
    let found: Folder | undefined = this.#top
    for (const name of path.split('/').slice(0, -1)) found = found?.children.get(`${name}/`)
    return found
  }
}

async function heaviestIn(folder: Folder | undefined): Promise<Folder | undefined> {
  let found: Folder | undefined
  await inSlices(folder?.children.values() ?? [], (child) => {
    if (child.weight > (found?.weight ?? 0)) found = child
  })
  return found
}
