import { spawn } from 'node:child_process'
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { AgentprotoError } from '@agentproto/contracts'
import { findExecutable } from '@agentproto/subprocess'
import unbzip2 from 'unbzip2-stream'
import { fileHead } from '../file-head.js'

/** A file that may be an archive. */
export interface ArchiveFile {
  readonly archive: string
  /** PATH for the programs that unpack what Node cannot. */
  readonly path: string
  /** Of what is written, unpacked. */
  readonly maxBytes: number
}

/** What reads each kind of content. */
export interface ContentReaders {
  readonly zip: () => Promise<void>
  readonly tar: (bytes: AsyncIterable<Buffer>) => Promise<void>
  /** One file, which may have been compressed. */
  readonly single: (bytes: AsyncIterable<Buffer>) => Promise<void>
}

/** The first bytes of each format, in hexadecimal. */
const MAGIC = { zip: '504b', gzip: '1f8b', xz: 'fd377a585a', bzip2: '425a68' } as const
/** A tar header says what it is at this offset. */
const USTAR_AT = 257

/** Decides by the first bytes what a file is, and reads it. @throws `install_failed` */
export async function readContent(file: ArchiveFile, readers: ContentReaders): Promise<void> {
  try {
    const head = (await fileHead(file.archive, 16)).toString('hex')
    if (head.startsWith(MAGIC.zip)) return await readers.zip()
    const stream = decompressed(file, head)
    try {
      const { isTar, bytes } = await peeked(stream)
      await (isTar ? readers.tar(bytes) : readers.single(bytes))
    } finally {
      await stream.return()
    }
  } catch (thrown) {
    if (thrown instanceof AgentprotoError) throw thrown
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    throw unpackFailed(`The download could not be unpacked: ${why}`, thrown)
  }
}

type Bytes = AsyncGenerator<Buffer, void, undefined>

async function* decompressed({ archive, path }: ArchiveFile, head: string): Bytes {
  const raw = createReadStream(archive)
  try {
    if (head.startsWith(MAGIC.xz)) yield* throughProgram('xz', raw, await programOf('xz', path))
    else if (head.startsWith(MAGIC.bzip2)) yield* bunzipped(raw, path)
    else if (head.startsWith(MAGIC.gzip)) yield* gunzipped(raw)
    else yield* raw
  } finally {
    raw.destroy()
  }
}

async function* gunzipped(raw: Readable): Bytes {
  const gunzip = createGunzip()
  raw.on('error', (error) => gunzip.destroy(error))
  yield* raw.pipe(gunzip)
}

/** The library is slower than the program, which Windows and small containers lack. */
async function* bunzipped(raw: Readable, path: string): Bytes {
  const program = await findExecutable('bzip2', { path })
  yield* program === undefined ? bunzip2(raw) : throughProgram('bzip2', raw, program)
}

/** Node cannot read xz; systems that make it have a program that can. */
async function programOf(name: string, path: string): Promise<string> {
  const file = await findExecutable(name, { path })
  if (file !== undefined) return file
  throw unpackFailed(`The download is packed with ${name}, which is not installed`)
}

async function* throughProgram(name: string, raw: Readable, file: string): Bytes {
  const child = spawn(file, ['-dc'], { stdio: ['pipe', 'pipe', 'ignore'] })
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('exit', resolve))
  ended.catch(() => undefined)
  raw.once('error', () => child.kill())
  child.stdin.on('error', () => raw.destroy())
  raw.pipe(child.stdin)
  try {
    yield* child.stdout
    // Its output may end before it says that the archive was damaged.
    const code = await ended
    if (code !== 0) throw new Error(`${name} ended with ${code ?? 'a signal'}`)
  } finally {
    child.kill()
  }
}

/** Decompresses with the library, whose streams are of the first kind that Node had: they do not wait for their reader. */
export async function* bunzip2(raw: AsyncIterable<Buffer>): Bytes {
  const decompressing = unbzip2()
  const ready: Buffer[] = []
  let [held, failure] = [0, undefined as unknown]
  decompressing.on('error', (error: unknown) => (failure ??= error))
  decompressing.on('data', (chunk: Buffer) => {
    held += chunk.length
    // Ends the loop of the library, which would decompress all that it has.
    if (held > HELD_BYTES_MAX) throw unpackFailed('The file in the download is too large')
    ready.push(chunk)
  })
  const taken = (): readonly Buffer[] => {
    if (failure instanceof AgentprotoError) throw failure
    if (failure !== undefined)
      throw unpackFailed('The download could not be unpacked: its bzip2 data is damaged', failure)
    held = 0
    return ready.splice(0)
  }
  for await (const chunk of raw) {
    decompressing.write(chunk)
    yield* taken()
  }
  decompressing.end()
  yield* taken()
}

/** What one megabyte, which the library decompresses at once, may become. Of a program it is ten. */
const HELD_BYTES_MAX = 128 * 1024 * 1024

/** Whether a stream is a tar archive, and all of its bytes. */
async function peeked(stream: Bytes): Promise<{ readonly isTar: boolean; readonly bytes: Bytes }> {
  let first: Buffer = Buffer.alloc(0)
  while (first.length < 512) {
    const next = await stream.next()
    if (next.done === true) break
    first = Buffer.concat([first, next.value])
  }
  // A loop of the language would end the stream when its own reader stops.
  async function* bytes(): Bytes {
    yield first
    for (let next = await stream.next(); next.done !== true; next = await stream.next()) yield next.value
  }
  return { isTar: first.toString('latin1', USTAR_AT, USTAR_AT + 5) === 'ustar', bytes: bytes() }
}

/** @throws `install_failed` */
export const unpackFailed = (what: string, cause?: unknown): AgentprotoError =>
  new AgentprotoError('install_failed', what, { cause })
