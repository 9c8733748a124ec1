import type { AnyMessage, ClientConnection } from '@agentclientprotocol/sdk'
import { AgentprotoError, asRecord, type Clock } from '@agentproto/contracts'

/** Sends one message to the agent. */
export type SendMessage = (message: object) => void | Promise<void>

/** The ids of the next requests: our own, and those of the SDK. */
export interface NextIds {
  readonly own: number
  readonly sdk: number
}

/**
 * The client of the official SDK, fed with objects: it matches control requests with their answers and refuses unknown
 * methods. It is imported while the agent boots, which takes longer.
 */
export class SdkLink {
  readonly #connection: Promise<ClientConnection>
  readonly #clock: Clock
  /** Ids that the SDK waits for. It would print any other response on the console. */
  readonly #waiting = new Set<unknown>()
  /** Added to the SDK's own ids, which begin at 0: those of an earlier host may still be answered. */
  firstId = 0
  /** The id of the next request. */
  nextId = 0
  #incoming: ReadableStreamDefaultController<AnyMessage> | undefined
  #closed: Error | undefined

  constructor(name: string, send: SendMessage, clock: Clock) {
    this.#clock = clock
    const readable = new ReadableStream<AnyMessage>({ start: (controller) => void (this.#incoming = controller) })
    const writable = new WritableStream<AnyMessage>({
      write: (message) => {
        return send(this.#numbered(message))
      },
    })
    this.#connection = connect(name, { readable, writable })
    // The caller of `request` receives the error; there may be none yet.
    this.#connection.catch(() => {})
  }

  /** Whether a response belongs to the SDK; each is taken once. */
  expects(id: unknown): boolean {
    return this.#waiting.delete(id)
  }

  /** Passes a message of the agent to the SDK. */
  take(message: object): void {
    if (!this.#closed) this.#incoming?.enqueue(this.#ownIds(message) as AnyMessage)
  }

  /** Goes on after an earlier host; before the first request. */
  startAt(id: number): void {
    this.firstId = id
    this.nextId = id
  }

  #numbered(message: AnyMessage): object {
    if (!('method' in message)) return message
    if ('id' in message && typeof message.id === 'number') {
      const id = this.firstId + message.id
      this.#waiting.add(id)
      this.nextId = id + 1
      return { ...message, id }
    }
    const { requestId } = asRecord(message.params)
    const isCancel = message.method === '$/cancel_request' && typeof requestId === 'number'
    return isCancel
      ? { ...message, params: { ...asRecord(message.params), requestId: this.firstId + requestId } }
      : message
  }

  /** A response with the id that the SDK gave. */
  #ownIds(message: object): object {
    const { id, method } = asRecord(message)
    return method === undefined && typeof id === 'number' ? { ...message, id: id - this.firstId } : message
  }

  /**
   * Sends a request of ACP.
   * @param limitMs milliseconds until it is given up
   * @throws what the agent answered (an error with a numeric `code`), or `timeout`
   */
  async request(method: string, params: object, limitMs: number): Promise<unknown> {
    const limit = new AbortController()
    const timer = this.#clock.after(limitMs, () => limit.abort())
    try {
      const { agent } = await this.#connection
      if (this.#closed) throw this.#closed
      const waiting = { cancellationSignal: limit.signal, stopWaitingOnCancel: true }
      return await agent.request<unknown, object>(method, params, waiting)
    } catch (thrown) {
      if (!limit.signal.aborted) throw thrown
      throw new AgentprotoError('timeout', `The agent did not answer ${method} within ${limitMs} ms`, { cause: thrown })
    } finally {
      timer.cancel()
    }
  }

  /** Rejects every pending request with the reason. */
  close(reason: Error): void {
    if (this.#closed) return
    this.#closed = reason
    void this.#connection.then((connection) => connection.close(reason)).catch(() => {})
  }
}

async function connect(
  name: string,
  stream: { readable: ReadableStream<AnyMessage>; writable: WritableStream<AnyMessage> },
): Promise<ClientConnection> {
  const sdk = await import('@agentclientprotocol/sdk')
  return sdk.client({ name }).connect(stream)
}
