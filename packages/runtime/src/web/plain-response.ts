import { type Fields, fieldsOf, type HeadersGiven, PlainHeaders } from './plain-headers.js'

/** What Node's server is handed. */
export interface Answer {
  readonly status: number
  readonly fields: Readonly<Fields>
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null
}

export interface PlainResponseInit {
  readonly status?: number | undefined
  readonly statusText?: string | undefined
  readonly headers?: HeadersGiven | undefined
}

/** What a body is made of. */
type Content = NonNullable<ConstructorParameters<typeof Response>[0]>

/**
 * A `Response` that is its status, its headers and its body. What handlers do with one beside making it, and no server
 * needs, is left to Node's own, which is loaded then: it comes with all of `fetch`, ten megabytes that a gateway can
 * spare.
 */
export class PlainResponse {
  readonly status: number
  readonly statusText: string
  readonly #content: Content | null
  readonly #given: HeadersGiven | undefined
  #headers: PlainHeaders | undefined
  #native: Response | undefined

  constructor(content?: Content | null, init: PlainResponseInit = {}) {
    this.status = init.status ?? 200
    this.statusText = init.statusText ?? ''
    this.#content = content ?? null
    this.#given = init.headers
  }

  /** Also of one that Node made: handlers and libraries ask whether a thing is a `Response`, not whose. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return Object.prototype.toString.call(value) === '[object Response]'
  }

  static json(data: unknown, init: PlainResponseInit = {}): PlainResponse {
    const headers = new PlainHeaders(fieldsOf(init.headers ?? {}))
    if (!headers.has('content-type')) headers.set('content-type', 'application/json')
    return new PlainResponse(JSON.stringify(data), { ...init, headers })
  }

  static redirect(url: string | URL, status = 302): PlainResponse {
    return new PlainResponse(null, { status, headers: { location: String(new URL(url)) } })
  }

  static error(): Response {
    return NativeResponse().error()
  }

  /** What to send of a response; undefined of one that is not ours, or that has a body which only Node knows. */
  static answerOf(response: object): Answer | undefined {
    return #content in response ? response.#answer() : undefined
  }

  get [Symbol.toStringTag](): string {
    return 'Response'
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300
  }

  get headers(): PlainHeaders {
    this.#headers ??= new PlainHeaders(withType(fieldsOf(this.#given ?? {}), this.#content))
    return this.#headers
  }

  get body(): ReadableStream<Uint8Array> | null {
    return this.#content === null || this.#content instanceof ReadableStream ? this.#content : this.native().body
  }

  get bodyUsed(): boolean {
    return this.#native?.bodyUsed ?? false
  }

  text(): Promise<string> {
    return this.native().text()
  }

  json(): Promise<unknown> {
    return this.native().json()
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.native().arrayBuffer()
  }

  blob(): Promise<Blob> {
    return this.native().blob()
  }

  formData(): Promise<FormData> {
    return this.native().formData()
  }

  clone(): Response {
    return this.native().clone()
  }

  /** The same as Node's own makes it. */
  native(): Response {
    const { status, statusText } = this
    const Native = NativeResponse()
    this.#native ??= new Native(this.#content, { status, statusText, headers: [...this.headers] })
    return this.#native
  }

  #answer(): Answer | undefined {
    const body = this.#content
    if (this.#native !== undefined || !isSendable(body)) return undefined
    const { status } = this
    // Most answers have fields that a route wrote down: they go as they are.
    const written = this.#headers === undefined && isWritten(this.#given)
    return { status, fields: written ? (this.#given as Fields) : this.headers.fields, body }
  }
}

const isSendable = (body: Content | null): body is NonNullable<Answer['body']> | null =>
  body === null || typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream

const isWritten = (given: HeadersGiven | undefined): boolean =>
  given !== undefined && !(Symbol.iterator in given) && 'content-type' in given

function withType(fields: Fields, content: Content | null): Fields {
  if (typeof content === 'string') fields['content-type'] ??= 'text/plain;charset=UTF-8'
  return fields
}

/** Takes the place of the global `Response`, for a process that is a gateway and nothing else. */
export function preferPlainResponses(): void {
  taken = true
  Object.defineProperty(globalThis, 'Response', { value: PlainResponse, writable: true, configurable: true })
}

let taken = false
const found = Object.getOwnPropertyDescriptor(globalThis, 'Response')

/** Node's own, loaded when it is asked for. */
function NativeResponse(): typeof Response {
  const native = (found?.get === undefined ? found?.value : found.get.call(globalThis)) as typeof Response
  // Node's getter puts its own in the place of what it is asked from.
  if (taken && globalThis.Response === native) preferPlainResponses()
  return native
}
