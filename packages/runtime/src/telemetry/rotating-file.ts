import { closeSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

export interface RotatingFileOptions {
  /** Absolute path of the file that is written; full ones are beside it, `.1` the newest. */
  readonly path: string
  /** Bytes after which a file is full. */
  readonly maxBytes: number
  /** Files that are kept, with the one that is written. */
  readonly files: number
}

/** A file of the owner's alone that is only ever appended to, and put aside when it is full; the oldest goes. */
export class RotatingFile {
  readonly #options: RotatingFileOptions
  #file: { readonly fd: number; bytes: number } | undefined

  constructor(options: RotatingFileOptions) {
    this.#options = options
  }

  /** Writes whole lines; a file has at most its bytes, but for lines that are longer by themselves. Throws what the disk says. */
  append(text: string): void {
    const bytes = Buffer.from(text)
    const file = this.#openFor(bytes.byteLength)
    for (let at = 0; at < bytes.byteLength;) at += writeSync(file.fd, bytes, at)
    file.bytes += bytes.byteLength
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file.fd)
    this.#file = undefined
  }

  /** The file that has room for so many bytes. */
  #openFor(bytes: number): { readonly fd: number; bytes: number } {
    const { path, maxBytes } = this.#options
    const open = (this.#file ??= opened(path))
    if (open.bytes === 0 || open.bytes + bytes <= maxBytes) return open
    this.close()
    this.#rotate()
    return (this.#file = opened(path))
  }

  #rotate(): void {
    const { path, files } = this.#options
    const at = (number: number): string => (number === 0 ? path : `${path}.${number}`)
    rmSync(at(files - 1), { force: true })
    for (let number = files - 2; number >= 0; number--) {
      try {
        renameSync(at(number), at(number + 1))
      } catch {
        // There are not as many yet.
      }
    }
  }
}

function opened(path: string): { readonly fd: number; bytes: number } {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const fd = openSync(path, 'a', 0o600)
  return { fd, bytes: statSync(path).size }
}
