import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock, Timer } from '@agentproto/contracts'
import { createStream, type RotatingFileStream } from 'rotating-file-stream'

export interface LogFileOptions {
  /** Absolute path of the current file; full files are beside it, `.1` is the newest. Undefined: nothing is written. */
  readonly path: string | undefined
  /** Size in bytes at which a file is full. */
  readonly maxBytes: number
  /** Number of files that are kept, including the current one. */
  readonly files: number
  readonly clock: Clock
  /** Called when lines could not be written. */
  readonly onError?: (error: Error) => void
}

/** Text that may wait for the disk, in bytes; lines beyond it are dropped and reported. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024

/** Lines are collected into one write, which goes through the thread pool: in the middle of a prompt it cost a tenth of it. */
const COLLECT_MS = 20
const COLLECT_CHARS = 64 * 1024

/**
 * An append-only file, readable by its owner only, that rotates by size. It is opened by the first line, and opened again
 * after an error: a full disk costs the lines of that time, nothing else.
 */
export class LogFile {
  readonly #options: LogFileOptions
  #stream: RotatingFileStream | undefined
  #collected = ''
  #timer: Timer | undefined
  #closed = false

  constructor(options: LogFileOptions) {
    this.#options = options
  }

  /** Appends whole lines. Never throws. */
  append(text: string): void {
    const { path, clock, maxBytes } = this.#options
    if (path === undefined || this.#closed) return
    this.#collected += text
    if (this.#collected.length >= Math.min(COLLECT_CHARS, maxBytes)) this.#write(path)
    else this.#timer ??= clock.after(COLLECT_MS, () => this.#write(path))
  }

  #write(path: string): void {
    const text = this.#collected
    this.#collected = ''
    this.#timer?.cancel()
    this.#timer = undefined
    if (text === '') return
    try {
      this.#stream ??= this.#open(path)
      if (this.#stream.writableLength > MAX_PENDING_BYTES) throw new Error('the disk is too slow')
      this.#stream.write(text)
    } catch (error) {
      this.#options.onError?.(error as Error)
    }
  }

  /** Writes what is pending, then closes the file. Idempotent. */
  close(): Promise<void> {
    this.#closed = true
    if (this.#options.path !== undefined) this.#write(this.#options.path)
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
