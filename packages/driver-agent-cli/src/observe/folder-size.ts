import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'

export interface FolderSize {
  readonly files: number
  readonly bytes: number
}

/**
 * Counts the files below a folder without following links, and stops once there is more than `most`. What cannot be read, or
 * is gone meanwhile, counts as nothing.
 */
export async function folderSize(folder: string, most: FolderSize): Promise<FolderSize> {
  let [files, bytes] = [0, 0]
  const folders = [folder]
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for await (const entry of entriesOf(next)) {
      const path = join(next, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else {
        files += 1
        bytes += await sizeOf(path)
      }
      if (files > most.files || bytes > most.bytes || folders.length > most.files) return { files, bytes }
    }
  }
  return { files, bytes }
}

/** As a stream: a folder may have more entries than fit in memory. */
async function* entriesOf(folder: string) {
  try {
    yield* await opendir(folder)
  } catch {
    // Gone, too long a path, or not ours to read.
  }
}

/** Bytes on disk: a file with holes may claim any size. */
async function sizeOf(path: string): Promise<number> {
  const state = await lstat(path).catch(() => undefined)
  if (!state?.isFile()) return 0
  return process.platform === 'win32' ? state.size : Math.min(state.size, state.blocks * 512)
}
