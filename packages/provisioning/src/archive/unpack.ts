import { spawn } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { AgentprotoError } from '@agentproto/contracts'
import { findExecutable } from '@agentproto/subprocess'
import { fileHead } from '../file-head.js'
import { readTarMember, readZipMember } from './archive-member.js'

/** Which file to extract, from which archive, and where to. */
export interface Unpacking {
  readonly archive: string
  /** Path in the archive; one without a slash may be in any folder of it. */
  readonly member: string
  /** Where to; must not exist. Executable by its owner and readable by others. */
  readonly to: string
  /** Of the file, unpacked. */
  readonly maxBytes: number
  /** PATH for the programs that unpack what Node cannot. */
  readonly path: string
}

/** The first bytes of each format, in hexadecimal. */
const MAGIC = { zip: '504b', gzip: '1f8b', xz: 'fd377a585a', bzip2: '425a68' } as const
/** A tar header says what it is at this offset. */
const USTAR_AT = 257

/**
 * Extracts one file: from a tar archive, plain or compressed with gzip, xz or bzip2; from a zip archive; from a single
 * compressed file; or copies a file that is no archive. The first bytes say which it is. No path of the archive is ever
 * written to.
 * @throws `install_failed`
 */
export async function unpack({ archive, member, to, maxBytes, path }: Unpacking): Promise<void> {
  const write = (content: AsyncIterable<Buffer>): Promise<void> => writeProgram(content, to, maxBytes)
  try {
    const head = (await fileHead(archive, 16)).toString('hex')
    if (head.startsWith(MAGIC.zip)) return await readZipMember(archive, member, write)
    const stream = await decompressed(archive, head, path)
    try {
      const { isTar, bytes } = await peeked(stream)
      await (isTar ? readTarMember(bytes, member, write) : write(bytes))
    } finally {
      stream.destroy()
    }
  } catch (thrown) {
    if (thrown instanceof AgentprotoError) throw thrown
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    throw failed(`The download could not be unpacked: ${why}`, thrown)
  }
}

async function decompressed(archive: string, head: string, path: string): Promise<Readable> {
  const raw = createReadStream(archive)
  if (head.startsWith(MAGIC.xz)) return through('xz', raw, path)
  if (head.startsWith(MAGIC.bzip2)) return through('bzip2', raw, path)
  if (!head.startsWith(MAGIC.gzip)) return raw
  const gunzip = createGunzip()
  raw.on('error', (error) => gunzip.destroy(error))
  return raw.pipe(gunzip)
}

/** Node cannot read these; systems that make them have a program that can. */
async function through(program: string, raw: Readable, path: string): Promise<Readable> {
  const file = await findExecutable(program, { path })
  if (file === undefined) throw failed(`The download is packed with ${program}, which is not installed`)
  const child = spawn(file, ['-dc'], { stdio: ['pipe', 'pipe', 'ignore'] })
  const { stdin, stdout } = child
  child.once('error', (error) => stdout.destroy(error))
  child.once('exit', (code) => {
    // It has no exit code when we ended it, after the file was found.
    if (code !== 0 && code !== null) stdout.destroy(new Error(`${program} ended with ${code}`))
  })
  stdin.on('error', () => raw.destroy())
  stdout.once('close', () => child.kill())
  raw.pipe(stdin)
  return stdout
}

/** Whether a stream is a tar archive, and all of its bytes. */
async function peeked(
  stream: Readable,
): Promise<{ readonly isTar: boolean; readonly bytes: AsyncGenerator<Buffer, void, undefined> }> {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let first: Buffer = Buffer.alloc(0)
  for (let { value, done } = await chunks.next(); !done; { value, done } = await chunks.next()) {
    first = Buffer.concat([first, value])
    if (first.length >= 512) break
  }
  async function* bytes(): AsyncGenerator<Buffer, void, undefined> {
    yield first
    for (let { value, done } = await chunks.next(); !done; { value, done } = await chunks.next()) yield value
  }
  return { isTar: first.toString('latin1', USTAR_AT, USTAR_AT + 5) === 'ustar', bytes: bytes() }
}

async function writeProgram(content: AsyncIterable<Buffer>, to: string, maxBytes: number): Promise<void> {
  const file = await open(to, 'wx', 0o755)
  let bytes = 0
  try {
    for await (const chunk of content) {
      bytes += chunk.length
      if (bytes > maxBytes) throw failed('The file in the download is too large')
      await file.write(chunk)
    }
  } finally {
    await file.close()
  }
}

const failed = (what: string, cause?: unknown): AgentprotoError =>
  new AgentprotoError('install_failed', what, { cause })
