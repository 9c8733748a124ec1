import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The bytes of all files below a folder. */
export async function folderBytes(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    // A pack or a temporary file may be replaced meanwhile.
    const stats = entry.isFile() ? await lstat(join(entry.parentPath, entry.name)).catch(() => undefined) : undefined
    bytes += stats?.size ?? 0
  }
  return bytes
}
