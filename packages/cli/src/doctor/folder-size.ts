import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** The folders in a folder, and the bytes of all files below it; none for one that does not exist. */
export async function folderSize(path: string): Promise<{ readonly folders: number; readonly bytes: number }> {
  const names = await readdir(path, { recursive: true }).catch(() => [])
  let bytes = 0
  for (const name of names) bytes += await fileBytes(join(path, name))
  return { folders: new Set(names.map((name) => name.split(/[/\\]/, 1)[0])).size, bytes }
}

/** 0 for a folder, and for what was deleted meanwhile. */
const fileBytes = (path: string): Promise<number> =>
  stat(path).then(
    (found) => (found.isFile() ? found.size : 0),
    () => 0,
  )
