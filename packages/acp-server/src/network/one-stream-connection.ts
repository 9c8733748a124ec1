import type { Clock, Timer } from '@agentproto/contracts'
import type { AcpCaller } from '@agentproto/contracts/wire'
import type { AcpServer } from '../acp-host.js'
import type { ClientMessages } from '../client-messages.js'
import type { AcpLimits } from './acp-endpoint.js'
import { type Connection, whenEnding } from './connections.js'
import { eventBody } from './event-body.js'
import { NumberedOutput } from './numbered-output.js'
import { STREAM_HEADERS } from './stream-headers.js'

export interface OneStreamOptions {
  readonly limits: AcpLimits
  readonly clock: Clock
  readonly serve: (caller: AcpCaller, messages: ClientMessages) => AcpServer
}

/** One connection: what the client posts, and the one stream with everything for it. */
export class OneStreamConnection implements ClientMessages {
  readonly place: Connection
  readonly received: AsyncIterable<unknown>
  /** Settles when it has ended. Never rejects. */
  readonly closed: Promise<void>
  /** Whether `initialize` has come. */
  isGreeted = false
  readonly #options: OneStreamOptions
  readonly #output: NumberedOutput
  readonly #input = new TransformStream<unknown, unknown>()
  readonly #writer = this.#input.writable.getWriter()
  readonly #handshake: Timer
  #stream: AbortController | undefined
  #idle: Timer | undefined

  constructor(place: Connection, options: OneStreamOptions) {
    const { clock, limits, serve } = options
    this.place = place
    this.#options = options
    this.#output = new NumberedOutput({ clock, limits, onStalled: () => place.end('Its client does not read') })
    this.#handshake = clock.after(limits.handshakeMs, () => place.end('No initialize in time'))
    this.received = this.#input.readable as ReadableStream & AsyncIterable<unknown>
    const server = serve(place.caller, this)
    this.closed = server.closed.then(() => this.#over())
    whenEnding(place, () => server.close())
    this.#rest()
  }

  send(message: object): Promise<void> | undefined {
    return this.#output.send(JSON.stringify(message))
  }

  /** Hands a message on; a client whose messages are not taken waits. */
  async receive(message: unknown): Promise<void> {
    this.isGreeted = true
    this.#handshake.cancel()
    this.#rest()
    // A connection that ends meanwhile takes nothing more.
    await this.#writer.write(message).catch(() => undefined)
  }

  /**
   * Replaces the stream that is open: the client does not read it any more.
   * @param last The last event that the client has; default: all that were handed out
   * @returns undefined if what followed is not kept any more: the client must begin again
   */
  stream(last: number | undefined): Response | undefined {
    if (last !== undefined && !this.#output.continueAfter(last)) return undefined
    this.#stream?.abort()
    const stream = new AbortController()
    this.#stream = stream
    const onEnd = (): void => {
      if (this.#stream !== stream) return
      this.#stream = undefined
      this.#rest()
    }
    this.#idle?.cancel()
    return new Response(eventBody(this.#output, { signal: stream.signal, onEnd }), { headers: STREAM_HEADERS })
  }

  /** Without a stream and requests it ends after a while. */
  #rest(): void {
    this.#idle?.cancel()
    if (this.#stream !== undefined || this.place.signal.aborted) return
    const { clock, limits } = this.#options
    this.#idle = clock.after(limits.idleMs, () => this.place.end('It was idle for too long'))
  }

  #over(): void {
    this.place.end('It was closed')
    this.#handshake.cancel()
    this.#idle?.cancel()
    this.#output.close()
    this.#stream?.abort()
    void this.#writer.close().catch(() => undefined)
  }
}
