import type { Client } from '@agentproto/client'

/** What a session changed, as the gateway lists it. */
export type Changes = Awaited<ReturnType<Client['changes']['list']>>
export type ChangedFile = Changes['files'][number]

/** A folder of the tree. `path` is its whole path, without a slash at the end; empty for the session's folder. */
export interface ChangedFolder {
  readonly path: string
  /** Its name; of folders with a single folder in them, all the names. */
  readonly name: string
  readonly folders: readonly ChangedFolder[]
  readonly files: readonly ChangedFile[]
  readonly additions: number
  readonly deletions: number
}

/** The changed files as a tree: a folder with nothing but one folder in it is shown together with that. */
export function treeOf(files: readonly ChangedFile[]): ChangedFolder {
  const root: Growing = { path: '', name: '', folders: new Map(), files: [] }
  for (const file of files) {
    let folder = root
    for (const name of file.path.split('/').slice(0, -1)) folder = folderIn(folder, name)
    folder.files.push(file)
  }
  return finished(root)
}

interface Growing {
  readonly path: string
  readonly name: string
  readonly folders: Map<string, Growing>
  readonly files: ChangedFile[]
}

function folderIn(parent: Growing, name: string): Growing {
  const known = parent.folders.get(name)
  if (known !== undefined) return known
  const path = parent.path === '' ? name : `${parent.path}/${name}`
  const folder: Growing = { path, name, folders: new Map(), files: [] }
  parent.folders.set(name, folder)
  return folder
}

function finished({ path, name, folders: growing, files }: Growing): ChangedFolder {
  const folders = [...growing.values()].map(finished)
  const [only] = folders
  if (path !== '' && only !== undefined && folders.length === 1 && files.length === 0)
    return { ...only, name: `${name}/${only.name}` }
  const all = [...folders, ...files]
  return { path, name, folders, files, additions: sum(all, 'additions'), deletions: sum(all, 'deletions') }
}

type Counted = Pick<ChangedFile, 'additions' | 'deletions'>

const sum = (of: readonly Counted[], what: keyof Counted): number =>
  of.reduce((total, { [what]: count }) => total + count, 0)

/** The name of a file without its folder. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
