import {
  closeSync,
  copyFileSync,
  type Dirent,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statfsSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'

/** What an upgrade does with files, one call for each operation. */
export interface HomeDisk {
  /** Undefined for what does not exist. Links are not followed. */
  look(path: string): { readonly kind: EntryKind; readonly bytes: number } | undefined
  /** Sorted by name. */
  list(folder: string): readonly { readonly name: string; readonly kind: EntryKind }[]
  read(path: string): string
  /** Creates a file for its owner alone, on the disk when it returns. */
  create(path: string, text: string): void
  makeFolder(path: string): void
  /** A second name for a file, or a copy where the file system has no second names. */
  copy(from: string, to: string): void
  rename(from: string, to: string): void
  unlink(path: string): void
  /** With all that is below. */
  removeFolder(path: string): void
  /** Makes the names in a folder as lasting as the files. */
  syncFolder(path: string): void
  freeBytes(path: string): number
}

export type EntryKind = 'file' | 'folder' | 'other'

export const nodeDisk: HomeDisk = {
  look(path) {
    const about = lstatSync(path, { throwIfNoEntry: false })
    return about && { kind: kindOf(about), bytes: about.size }
  },
  list: (folder) =>
    readdirSync(folder, { withFileTypes: true })
      .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  read: (path) => readFileSync(path, 'utf8'),
  create: (path, text) => writeFileSync(path, text, { flag: 'wx', mode: 0o600, flush: true }),
  makeFolder: (path) => void mkdirSync(path, { recursive: true, mode: 0o700 }),
  copy(from, to) {
    try {
      linkSync(from, to)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (!['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'ENOSYS'].includes(code)) throw error
      copyFileSync(from, to)
    }
  },
  rename: (from, to) => renameSync(from, to),
  unlink: (path) => unlinkSync(path),
  removeFolder: (path) => rmSync(path, { recursive: true, force: true }),
  syncFolder(path) {
    // Windows opens no folders.
    if (process.platform === 'win32') return
    const folder = openSync(path, 'r')
    try {
      fsyncSync(folder)
    } finally {
      closeSync(folder)
    }
  },
  freeBytes(path) {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  },
}

const kindOf = (about: Stats | Dirent): EntryKind =>
  about.isFile() ? 'file' : about.isDirectory() ? 'folder' : 'other'
