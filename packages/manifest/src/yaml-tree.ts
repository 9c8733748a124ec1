/** A YAML value with its position in the file, and the positions of everything in it. */
export interface YamlTree {
  readonly value: unknown
  /** Offset in the file. */
  readonly offset: number
  /** A number as it is in the file. */
  readonly source?: string
  readonly entries?: ReadonlyMap<string, YamlEntry>
  readonly items?: readonly YamlTree[]
}

export interface YamlEntry {
  readonly keyOffset: number
  readonly tree: YamlTree
}

/** The part of a tree at a path. */
export const treeAt = (tree: YamlTree, path: readonly (string | number)[]): YamlTree | undefined =>
  path.reduce<YamlTree | undefined>(
    (at, step) => (typeof step === 'string' ? at?.entries?.get(step)?.tree : at?.items?.[step]),
    tree,
  )

/** The offsets of the key and the value at a path, or of the last part of the path that exists. */
export function locate(
  tree: YamlTree,
  path: readonly (string | number)[],
): { readonly key: number; readonly value: number } {
  let place = { key: tree.offset, value: tree.offset }
  let at: YamlTree | undefined = tree
  for (const step of path) {
    const entry: YamlEntry | undefined = typeof step === 'string' ? at?.entries?.get(step) : undefined
    at = entry?.tree ?? at?.items?.[Number(step)]
    if (at === undefined) return place
    place = { key: entry?.keyOffset ?? at.offset, value: at.offset }
  }
  return place
}
