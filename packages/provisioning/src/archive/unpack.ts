import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { spawn } from 'node:child_process'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { AgentprotoError } from '@agentproto/contracts'
import { findExecutable } from '@agentproto/subprocess'
import { tarFiles } from './tar.js'
import { zipFiles } from './zip.js'

/** Which file to take out of what, and where to. */
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

/**
 * Takes one file out of an archive: tar, plain or packed with gzip, xz or bzip2; zip; a single packed file; or a
 * file that is no archive at all. What it is, its first bytes say. No path of the archive is ever written to.
 * @throws `install_failed`
 */
export async function unpack(unpacking: Unpacking): Promise<void> {
  try {
    const head = await headOf(unpacking.archive)
    if (startsWith(head, [0x50, 0x4b])) return await unpackZip(unpacking)
    const stream = await unpacked(unpacking, head)
    await fromStream(stream, unpacking)
  } catch (thrown) {
    if (thrown instanceof AgentprotoError) throw thrown
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    throw failed(`The download could not be unpacked: ${why}`, thrown)
  }
}

async function unpackZip({ archive, member, to, maxBytes }: Unpacking): Promise<void> {
  const file = await open(archive)
  try {
    const files = await zipFiles(file)
    const found = files.find(({ path }) => isMember(path, member))
    if (found === undefined)
      throw notInIt(
        member,
        files.map(({ path }) => path),
      )
    await write(await found.content(), to, maxBytes)
  } finally {
    await file.close()
  }
}

/** An archive's files one by one; what does not look like a tar archive is the file itself. */
async function fromStream(stream: Readable, unpacking: Unpacking): Promise<void> {
  try {
    await memberOf(stream, unpacking)
  } finally {
    stream.destroy()
  }
}

async function memberOf(stream: Readable, { member, to, maxBytes }: Unpacking): Promise<void> {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  const first = await firstBytes(chunks, 512)
  const whole = Readable.from(followedBy(first, chunks))
  if (first.subarray(257, 262).toString('latin1') !== 'ustar') return write(whole, to, maxBytes)
  const seen: string[] = []
  for await (const file of tarFiles(whole)) {
    if (isMember(file.path, member)) {
      await write(file.read(), to, maxBytes)
      return
    }
    if (seen.length < 20) seen.push(file.path)
  }
  throw notInIt(member, seen)
}

async function unpacked({ archive, path }: Unpacking, head: Buffer): Promise<Readable> {
  const raw = createReadStream(archive)
  if (startsWith(head, [0x1f, 0x8b])) {
    const gunzip = createGunzip()
    raw.on('error', (error) => gunzip.destroy(error))
    return raw.pipe(gunzip)
  }
  const program = startsWith(head, [0xfd, 0x37, 0x7a, 0x58, 0x5a])
    ? 'xz'
    : startsWith(head, [0x42, 0x5a, 0x68])
      ? 'bzip2'
      : undefined
  return program === undefined ? raw : through(program, raw, path)
}

/** Node has no reader for these, every system that makes them has a program. */
async function through(program: string, raw: Readable, path: string): Promise<Readable> {
  const file = await findExecutable(program, { path })
  if (file === undefined) throw failed(`The download is packed with ${program}, which is not installed`)
  const child = spawn(file, ['-dc'], { stdio: ['pipe', 'pipe', 'ignore'] })
  const { stdin, stdout } = child
  child.once('error', (error) => stdout.destroy(error))
  child.once('exit', (code) => {
    // Ended by us once the file was found, its pipe is closed already.
    if (code !== 0 && code !== null) stdout.destroy(new Error(`${program} ended with ${code}`))
  })
  stdin.on('error', () => raw.destroy())
  stdout.once('close', () => child.kill())
  raw.pipe(stdin)
  return stdout
}

async function write(content: AsyncIterable<Buffer>, to: string, maxBytes: number): Promise<void> {
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

const isMember = (path: string, member: string): boolean => {
  const plain = path.replace(/^\.\//, '')
  return plain === member.replace(/^\.\//, '') || (!member.includes('/') && plain.endsWith(`/${member}`))
}

async function headOf(archive: string): Promise<Buffer> {
  const file = await open(archive)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

const startsWith = (head: Buffer, magic: readonly number[]): boolean =>
  magic.every((byte, index) => head[index] === byte)

async function firstBytes(chunks: AsyncIterator<Buffer>, count: number): Promise<Buffer> {
  let bytes: Buffer = Buffer.alloc(0)
  while (bytes.length < count) {
    const { value, done } = await chunks.next()
    if (done === true) break
    bytes = Buffer.concat([bytes, value])
  }
  return bytes
}

async function* followedBy(first: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  yield first
  for (;;) {
    const { value, done } = await chunks.next()
    if (done === true) return
    yield value
  }
}

const notInIt = (member: string, paths: readonly string[]): AgentprotoError =>
  new AgentprotoError('install_failed', 'The download does not hold the file that the manifest names', {
    expected: member,
    given: paths.slice(0, 20).join(', '),
  })

const failed = (what: string, cause?: unknown): AgentprotoError =>
  new AgentprotoError('install_failed', what, { cause })
