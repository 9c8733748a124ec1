import type { IncomingMessage, ServerResponse } from 'node:http'
import { PlainHeaders } from './plain-headers.js'

/**
 * A `Request` as Node's server received it. What our handlers do not ask for is left to Node's own, which is made, and
 * loaded, when it is asked for.
 */
export class PlainRequest {
  readonly method: string
  readonly url: string
  readonly headers: PlainHeaders
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  #abort: AbortController | undefined
  #stream: ReadableStream<Uint8Array> | undefined
  #read = false
  #native: Request | undefined

  constructor(url: string, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.url = url
    this.method = incoming.method ?? 'GET'
    this.headers = new PlainHeaders(incoming.headers)
    this.#incoming = incoming
    this.#outgoing = outgoing
  }

  get [Symbol.toStringTag](): string {
    return 'Request'
  }

  /** Aborts when the client goes before it has its answer. */
  get signal(): AbortSignal {
    if (this.#abort !== undefined) return this.#abort.signal
    const abort = new AbortController()
    this.#abort = abort
    const outgoing = this.#outgoing
    const closed = (): void => {
      if (!outgoing.writableFinished) abort.abort(gone())
    }
    if (outgoing.closed) closed()
    else outgoing.once('close', closed)
    return abort.signal
  }

  get body(): ReadableStream<Uint8Array> | null {
    if (this.#native !== undefined) return this.#native.body
    if (this.method === 'GET' || this.method === 'HEAD') return null
    this.#stream ??= streamOf(this.#incoming)
    return this.#stream
  }

  get bodyUsed(): boolean {
    return this.#native?.bodyUsed ?? this.#read
  }

  async text(): Promise<string> {
    return DECODER.decode(await this.#bytes())
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return new Uint8Array(await this.#bytes()).buffer
  }

  blob(): Promise<Blob> {
    return this.native().blob()
  }

  formData(): Promise<FormData> {
    return this.native().formData()
  }

  clone(): Request {
    return this.native().clone()
  }

  /** The same as Node's own, which has the body from then on. */
  native(): Request {
    if (this.#native === undefined) {
      const { method, url, signal, body } = this
      const init = { method, signal, headers: [...this.headers], ...(body === null ? {} : { body, duplex: 'half' }) }
      this.#native = new Request(url, init as RequestInit)
    }
    return this.#native
  }

  async #bytes(): Promise<Uint8Array> {
    if (this.#native !== undefined) return new Uint8Array(await this.#native.arrayBuffer())
    if (this.#read || this.#stream !== undefined) throw new TypeError('The body was read before')
    this.#read = true
    if (this.method === 'GET' || this.method === 'HEAD') return new Uint8Array()
    return bytesOf(this.#incoming)
  }
}

const DECODER = new TextDecoder()

const gone = (): Error => new Error('The client has gone')

/** Not by iteration: a body is mostly one chunk, and a prompt is answered within a third of a millisecond. */
function bytesOf(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    if (incoming.destroyed && !incoming.readableEnded) return reject(gone())
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.once('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
    incoming.once('error', reject)
    return incoming.once('close', () => reject(gone()))
  })
}

/** Leaving it early leaves the connection as it is: the refusal goes the same way. */
function streamOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = incoming.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array>
  return new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await chunks.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
      cancel() {
        void chunks.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
