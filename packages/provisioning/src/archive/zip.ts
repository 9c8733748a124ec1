import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { createInflateRaw } from 'node:zlib'

/** One file of a zip archive. */
export interface ZipFile {
  readonly path: string
  /** Uncompressed, as the archive says. */
  readonly size: number
  content(): Promise<Readable>
}

const END = 0x06054b50
const END_BYTES = 22
const COMMENT_BYTES_MAX = 0xffff
const CENTRAL = 0x02014b50
const CENTRAL_BYTES = 46
const LOCAL_BYTES = 30
/** An archive's table of contents that is larger is no release of an agent. */
const DIRECTORY_BYTES_MAX = 64 * 1024 * 1024

/** Reads the table of contents of an archive, which stands at its end. Zip64 and encryption are refused. */
export async function zipFiles(file: FileHandle): Promise<readonly ZipFile[]> {
  const { size } = await file.stat()
  const tail = await bytesAt(
    file,
    Math.max(0, size - END_BYTES - COMMENT_BYTES_MAX),
    Math.min(size, END_BYTES + COMMENT_BYTES_MAX),
  )
  const end = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]))
  if (end < 0 || tail.readUInt32LE(end) !== END) throw new Error('it is no zip archive')
  const [length, at] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)]
  if (at === 0xffffffff || length > DIRECTORY_BYTES_MAX) throw new Error('its table of contents is too large')
  return entriesIn(await bytesAt(file, at, length), file)
}

function entriesIn(directory: Buffer, file: FileHandle): ZipFile[] {
  const entries: ZipFile[] = []
  for (let at = 0; at + CENTRAL_BYTES <= directory.length && directory.readUInt32LE(at) === CENTRAL;) {
    const [flags, method] = [directory.readUInt16LE(at + 8), directory.readUInt16LE(at + 10)]
    const [packed, size] = [directory.readUInt32LE(at + 20), directory.readUInt32LE(at + 24)]
    const [name, extra, comment] = [28, 30, 32].map((field) => directory.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ]
    const offset = directory.readUInt32LE(at + 42)
    const path = directory.subarray(at + CENTRAL_BYTES, at + CENTRAL_BYTES + name).toString('utf8')
    at += CENTRAL_BYTES + name + extra + comment
    if (path.endsWith('/')) continue
    entries.push({
      path,
      size,
      content: () => openEntry(file, { encrypted: (flags & 1) !== 0, method, packed, offset }),
    })
  }
  return entries
}

interface Place {
  readonly encrypted: boolean
  readonly method: number
  readonly packed: number
  readonly offset: number
}

async function openEntry(file: FileHandle, { encrypted, method, packed, offset }: Place): Promise<Readable> {
  if (encrypted || (method !== 0 && method !== 8)) throw new Error('it is packed in a way that is not supported')
  const local = await bytesAt(file, offset, LOCAL_BYTES)
  const start = offset + LOCAL_BYTES + local.readUInt16LE(26) + local.readUInt16LE(28)
  const raw = file.createReadStream({ start, end: start + packed - 1, autoClose: false })
  if (method === 0) return raw
  const inflate = createInflateRaw()
  raw.on('error', (error) => inflate.destroy(error))
  return raw.pipe(inflate)
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  if (bytesRead < length) throw new Error('it ends in the middle')
  return buffer
}
