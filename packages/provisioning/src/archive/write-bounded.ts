import { open } from 'node:fs/promises'
import { unpackFailed } from './archive-content.js'

export interface BoundedFile {
  /** Must not exist. */
  readonly to: string
  readonly mode: number
  readonly maxBytes: number
}

/** Writes a new file. @returns its size in bytes @throws `install_failed` when it is too large */
export async function writeBounded(
  content: AsyncIterable<Buffer>,
  { to, mode, maxBytes }: BoundedFile,
): Promise<number> {
  const file = await open(to, 'wx', mode)
  let bytes = 0
  try {
    for await (const chunk of content) {
      bytes += chunk.length
      if (bytes > maxBytes) throw unpackFailed('The file in the download is too large')
      await file.write(chunk)
    }
    return bytes
  } finally {
    await file.close()
  }
}
