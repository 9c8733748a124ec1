import { toAgentprotoError } from '@agentproto/contracts'
import type { KeptStream } from '@agentproto/contracts/agent'
import { unavailable } from './wire-connection.js'
import type { WireConnection } from './wire-connection.js'

/** How much the keeper may send before the reader has taken it, in bytes. */
const WINDOW_BYTES = 1 << 20

export interface StreamPlace {
  readonly connection: WireConnection
  readonly key: string
  readonly stream: KeptStream
  readonly from: number
}

/** Follows one stream of an agent. The keeper sends as much as is granted, and more is granted when it was taken. */
export class StreamReader implements AsyncIterable<Buffer> {
  readonly #place: StreamPlace
  #chunks: Buffer[] = []
  #taken = 0
  #isEnded = false
  #failure: Error | undefined
  #wake = (): void => {}

  constructor(place: StreamPlace) {
    this.#place = place
    const { connection, from } = place
    this.#request('read', { from, bytes: WINDOW_BYTES })
    void connection.lost.then(({ reason }) => this.#fail(unavailable(reason)))
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#wake()
  }

  end(): void {
    this.#isEnded = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Buffer> {
    for (;;) {
      const chunk = this.#chunks.shift()
      if (chunk !== undefined) {
        yield chunk
        this.#grant(chunk.length)
      } else if (this.#isEnded) return
      else if (this.#failure !== undefined) throw this.#failure
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  #grant(bytes: number): void {
    this.#taken += bytes
    if (this.#taken < WINDOW_BYTES / 4 || this.#isEnded) return
    this.#request('grant', { bytes: this.#taken })
    this.#taken = 0
  }

  #request(op: string, more: object): void {
    const { connection, key, stream } = this.#place
    connection.request({ ...more, op, key, stream }, () => {}).catch((error: unknown) => this.#fail(error))
  }

  #fail(error: unknown): void {
    this.#failure ??= toAgentprotoError(error)
    this.#wake()
  }
}
