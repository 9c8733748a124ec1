import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { createStream, type RotatingFileStream } from 'rotating-file-stream'

export interface LogFileOptions {
  /** Absolute path of the current file; full files are beside it, `.1` is the newest. Undefined: nothing is written. */
  readonly path: string | undefined
  /** Size in bytes at which a file is full. */
  readonly maxBytes: number
  /** Number of files that are kept, including the current one. */
  readonly files: number
  /** Called when lines could not be written. */
  readonly onError?: (error: Error) => void
}

/** Text that may wait for the disk, in bytes; lines beyond it are dropped and reported. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024

/**
 * An append-only file, readable by its owner only, that rotates by size. It is opened by the first line, and opened again
 * after an error: a full disk costs the lines of that time, nothing else.
 */
export class LogFile {
  readonly #options: LogFileOptions
  #stream: RotatingFileStream | undefined
  #closed = false

  constructor(options: LogFileOptions) {
    this.#options = options
  }

  /** Appends whole lines. Never throws. */
  append(text: string): void {
    const { path, onError } = this.#options
    if (path === undefined || this.#closed) return
    try {
      this.#stream ??= this.#open(path)
      if (this.#stream.writableLength > MAX_PENDING_BYTES) throw new Error('the disk is too slow')
      this.#stream.write(text)
    } catch (error) {
      onError?.(error as Error)
    }
  }

  /** Writes what is pending, then closes the file. Idempotent. */
  close(): Promise<void> {
    this.#closed = true
    const stream = this.#stream
    this.#stream = undefined
    if (stream === undefined) return Promise.resolve()
    return new Promise((resolve) => {
      stream.once('close', resolve)
      stream.end()
    })
  }

  #open(path: string): RotatingFileStream {
    const { maxBytes, files, onError } = this.#options
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const stream = createStream(path, { size: `${maxBytes}B`, rotate: Math.max(1, files - 1), mode: 0o600 })
    stream.on('error', (error) => {
      if (this.#stream === stream) this.#stream = undefined
      onError?.(error)
    })
    // The library keeps at least one full file.
    if (files === 1) stream.on('rotated', (full) => rmSync(full, { force: true }))
    return stream
  }
}
