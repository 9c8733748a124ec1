import { gzipSync } from 'node:zlib'

export interface TarEntry {
  /** At most 100 characters of ASCII. */
  readonly name: string
  readonly text: string
}

const BLOCK = 512

/** A gzipped tar archive (ustar) of small text files. */
export function tarOf(entries: readonly TarEntry[], modifiedAt: Date): Buffer {
  const blocks = entries.flatMap(({ name, text }) => {
    const body = Buffer.from(text)
    return [header(name, body.length, modifiedAt), body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]))
}

function header(name: string, size: number, modifiedAt: Date): Buffer {
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`
  block.write(name.slice(0, 100), 0, 'ascii')
  block.write(octal(0o600, 7), 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  block.write(octal(size, 11), 124)
  block.write(octal(Math.floor(modifiedAt.getTime() / 1_000), 11), 136)
  // The checksum is made with its own field as blanks.
  block.write(' '.repeat(8), 148)
  block.write('0', 156)
  block.write('ustar\x0000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}
