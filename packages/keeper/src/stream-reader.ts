import { Readable } from 'node:stream'
import { toAgentprotoError } from '@agentproto/contracts'
import { refusalOf } from './wire-connection.js'

/** How much the keeper may send before the reader has taken it, in bytes. */
const WINDOW_BYTES = 1 << 20

export interface StreamPlace {
  readonly from: number
  /** Sends a request about the stream to the keeper. */
  readonly request: (op: 'read' | 'grant', more: object) => Promise<void>
}

/** Follows one stream of an agent. The keeper sends as much as is granted, and more is granted when it was taken. */
export class StreamReader extends Readable {
  /** Where the next byte is that comes. */
  at: number
  readonly #request: StreamPlace['request']
  /** Granted, and not yet here. */
  #outstanding = 0
  #isReading = false
  #hasEnded = false

  constructor({ from, request }: StreamPlace) {
    super()
    this.at = from
    this.#request = request
  }

  /** Whether the keeper sends what comes. */
  get isFollowing(): boolean {
    return this.#isReading && !this.#hasEnded
  }

  override _read(): void {
    if (!this.#isReading) {
      this.#isReading = true
      return this.#follow()
    }
    // Node calls this before it hands out what is buffered, and not again before more comes.
    if (this.readableLength > 0) process.nextTick(() => this.#grant())
    else this.#grant()
  }

  /** What the keeper sent. */
  receive(chunk: Buffer): void {
    this.at += chunk.length
    this.#outstanding -= chunk.length
    if (this.destroyed) return
    this.push(chunk)
    this.#grant()
  }

  /** The stream has ended. */
  end(): void {
    this.#hasEnded = true
    if (!this.destroyed) this.push(null)
  }

  /** Goes on over another connection. @returns false when the keeper has not kept what comes next */
  goOn({ first, next }: { readonly first: number; readonly next: number }): boolean {
    if (!this.isFollowing || this.destroyed) return true
    if (this.at < first || this.at > next) return false
    this.#follow()
    return true
  }

  #follow(): void {
    this.#outstanding = WINDOW_BYTES - this.readableLength
    this.#send('read', { from: this.at, bytes: this.#outstanding })
  }

  #grant(): void {
    if (this.#hasEnded || this.destroyed) return
    const bytes = WINDOW_BYTES - this.#outstanding - this.readableLength
    if (bytes < WINDOW_BYTES / 4) return
    this.#outstanding += bytes
    this.#send('grant', { bytes })
  }

  #send(op: 'read' | 'grant', more: object): void {
    this.#request(op, more).catch((error: unknown) => {
      // A connection that was lost may be followed by another; if none does, the agent destroys this.
      if (refusalOf(error)['code'] !== undefined) this.destroy(toAgentprotoError(error))
    })
  }
}
