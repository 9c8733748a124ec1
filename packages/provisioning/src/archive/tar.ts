import type { Readable } from 'node:stream'

/** One file of a tar archive: its path, its size, and its content, which is to be read before the next. */
export interface TarFile {
  readonly path: string
  readonly size: number
  read(): AsyncGenerator<Buffer, void, undefined>
}

const BLOCK = 512
/** A path longer than this is nobody's. */
const PATH_BYTES_MAX = 64 * 1024

/** Gives the regular files of an archive in order (ustar, pax and GNU long names). Nothing is written anywhere. */
export async function* tarFiles(stream: Readable): AsyncGenerator<TarFile, void, undefined> {
  const bytes = new ByteReader(stream)
  let longPath: string | undefined
  for (;;) {
    const header = await bytes.take(BLOCK)
    if (header === undefined || header.every((byte) => byte === 0)) return
    const size = numberAt(header, 124, 12)
    const type = String.fromCharCode(header[156] ?? 0)
    if (type === 'x' || type === 'L') {
      const extra = await bytes.text(size)
      longPath = type === 'L' ? extra.replace(/\0.*$/s, '') : (paxPath(extra) ?? longPath)
      continue
    }
    const path = longPath ?? ustarPath(header)
    longPath = undefined
    let unread = size
    if (type === '0' || type === '\0') {
      yield {
        path,
        size,
        async *read() {
          while (unread > 0) {
            const chunk = await bytes.some(unread)
            unread -= chunk.length
            yield chunk
          }
        },
      }
    }
    await bytes.skip(unread + padding(size))
  }
}

const padding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK

function ustarPath(header: Buffer): string {
  const name = textAt(header, 0, 100)
  const prefix = textAt(header, 257, 5) === 'ustar' ? textAt(header, 345, 155) : ''
  return prefix === '' ? name : `${prefix}/${name}`
}

/** Records of the form `<length> <key>=<value>\n`. */
const paxPath = (records: string): string | undefined => /(?:^|\n)\d+ path=([^\n]*)\n/.exec(records)?.[1]

const textAt = (block: Buffer, at: number, length: number): string =>
  block
    .subarray(at, at + length)
    .toString('utf8')
    .replace(/\0.*$/s, '')

/** Octal text, or for what is too large for it a binary number with the top bit set. */
function numberAt(block: Buffer, at: number, length: number): number {
  const field = block.subarray(at, at + length)
  const binary = ((field[0] ?? 0) & 0x80) !== 0
  const value = binary
    ? Number(field.subarray(length - 8).readBigUInt64BE() & 0x7fffffffffffffffn)
    : Number.parseInt(textAt(block, at, length).trim() || '0', 8)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error('it is no tar archive')
  return value
}

/** Takes a stream apart by counts. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(stream: Readable) {
    this.#chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  }

  /** Exactly so many bytes; undefined at the end. */
  async take(count: number): Promise<Buffer | undefined> {
    const parts: Buffer[] = []
    let missing = count
    while (missing > 0) {
      const part = await this.#next(missing)
      if (part === undefined) {
        if (parts.length === 0) return undefined
        throw endedEarly()
      }
      parts.push(part)
      missing -= part.length
    }
    return Buffer.concat(parts)
  }

  async text(size: number): Promise<string> {
    if (size > PATH_BYTES_MAX) throw new Error('a header in it is too large')
    const content = size === 0 ? Buffer.alloc(0) : await this.take(size)
    await this.skip(padding(size))
    return content?.toString('utf8') ?? ''
  }

  /** One to so many bytes. */
  async some(atMost: number): Promise<Buffer> {
    const part = await this.#next(atMost)
    if (part === undefined) throw endedEarly()
    return part
  }

  async skip(count: number): Promise<void> {
    for (let left = count; left > 0;) left -= (await this.some(left)).length
  }

  async #next(atMost: number): Promise<Buffer | undefined> {
    while (this.#rest.length === 0) {
      const { value, done } = await this.#chunks.next()
      if (done === true) return undefined
      this.#rest = Buffer.from(value)
    }
    const part = this.#rest.subarray(0, atMost)
    this.#rest = this.#rest.subarray(part.length)
    return part
  }
}

const endedEarly = (): Error => new Error('it ends in the middle')
