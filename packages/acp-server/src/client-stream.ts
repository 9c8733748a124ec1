import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import type { ClientBounds } from './acp-host.js'
import type { ClientMessages } from './client-messages.js'
import { OpenCalls } from './open-calls.js'

/** The connection as the SDK's stream. All output goes through it, so that what must follow an answer follows it. */
export class ClientStream {
  readonly stream: Stream
  /** As `send`, of a message that is JSON already; undefined where messages are objects. */
  readonly sendJson: ClientMessages['sendJson']
  readonly #messages: ClientMessages
  readonly #calls: OpenCalls
  readonly #after = new Map<unknown, (() => void)[]>()

  constructor(messages: ClientMessages, bounds: ClientBounds) {
    this.#messages = messages
    this.sendJson = messages.sendJson?.bind(messages)
    this.#calls = new OpenCalls(bounds)
    const received = messages.received[Symbol.asyncIterator]()
    this.stream = {
      readable: new ReadableStream<AnyMessage>({
        pull: async (controller) => {
          const message = await this.#next(received)
          if (message === undefined) controller.close()
          else controller.enqueue(message)
        },
        async cancel() {
          await received.return?.(undefined)
        },
      }),
      writable: new WritableStream<AnyMessage>({
        write: async (message) => {
          this.#calls.sent(message)
          await this.send(message)
          if (!('method' in message)) this.#answered(message.id)
        },
      }),
    }
  }

  /** Whether one more request can be sent to the client, which has too many unanswered ones otherwise. */
  get hasRoom(): boolean {
    return this.#calls.hasRoom
  }

  /** Writes one message past the SDK; in order with what it writes. The promise is back-pressure. */
  send(message: object): Promise<void> | undefined {
    return this.#messages.send(message)
  }

  /** Writes what is sent meanwhile at once, where that is faster. */
  together(sendAll: () => void): void {
    if (this.#messages.together === undefined) sendAll()
    else this.#messages.together(sendAll)
  }

  /** Runs after the answer to a request: a client gets a session's id in the answer that opens it. */
  afterAnswer(requestId: unknown, run: () => void): void {
    const waiting = this.#after.get(requestId)
    if (waiting === undefined) this.#after.set(requestId, [run])
    else waiting.push(run)
  }

  /** The next message for the SDK, which validates it; undefined at the end. */
  async #next(received: AsyncIterator<unknown>): Promise<AnyMessage | undefined> {
    for (;;) {
      const { done, value } = await received.next()
      if (done === true) return undefined
      const verdict = this.#calls.received(value)
      if (verdict === 'handled') return value as AnyMessage
      if (verdict !== 'ignored') await this.send(verdict.refusal)
    }
  }

  #answered(id: unknown): void {
    const waiting = this.#after.get(id)
    this.#after.delete(id)
    for (const run of waiting ?? []) run()
  }
}
