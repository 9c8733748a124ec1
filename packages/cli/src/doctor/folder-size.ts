import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'

export interface FolderSize {
  /** In the folder itself, not below its folders. */
  readonly folders: number
  readonly bytes: number
  /** Whether it has more files than are counted. */
  readonly isMore: boolean
}

/** Counting more would take minutes on a slow disk. */
const MAX_FILES = 200_000

/** The folders in a folder, and the bytes of all files below it; none for one that does not exist. */
export async function folderSize(path: string): Promise<FolderSize> {
  const pending = [path]
  let [folders, bytes, files] = [0, 0, 0]
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const entries = await opendir(folder).catch(() => undefined)
    if (entries === undefined) continue
    for await (const entry of entries) {
      if (entry.isDirectory()) pending.push(join(folder, entry.name))
      if (entry.isDirectory() && folder === path) folders += 1
      if (!entry.isFile()) continue
      if (files === MAX_FILES) return { folders, bytes, isMore: true }
      files += 1
      bytes += await fileBytes(join(folder, entry.name))
    }
  }
  return { folders, bytes, isMore: false }
}

/** 0 for what was deleted meanwhile. */
const fileBytes = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )
