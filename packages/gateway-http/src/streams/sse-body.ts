import type { Clock, Timer } from '@agentproto/contracts'

/** What a stream is pulled from. */
export interface SseSource {
  /**
   * The next messages, whole, as one text.
   * @returns undefined at the end; an empty text where there is nothing to say yet
   */
  next(signal: AbortSignal): Promise<string | undefined>
  close(): void
  /** Stored events that were not taken yet, where that is known. */
  behind?(): number
}

export interface SseBodyOptions {
  readonly clock: Clock
  /** Milliseconds of silence after which a comment is sent. */
  readonly keepAliveMs: number
  /** Sent first; what a reconnecting client waits is part of it. */
  readonly hello: string
  /** Ends the stream from the side of the server. */
  readonly signal?: AbortSignal | undefined
  /** Tells of a failure of the source as one last message. */
  readonly farewell: (thrown: unknown) => string
  /** Called once, however the stream ends. */
  readonly onEnd: () => void
}

/**
 * A body of server-sent events that is pulled: one pull of the client is one `next` of the source and one chunk,
 * so a stalled client costs one batch, and one that goes away closes the source.
 */
export function sseBody(source: SseSource, options: SseBodyOptions): ReadableStream<Uint8Array> {
  // Nothing is pulled before the client reads: what waits, waits in the source.
  return new ReadableStream(new Pump(source, options), { highWaterMark: 0 })
}

type Controller = ReadableStreamDefaultController<Uint8Array>

const ENCODER = new TextEncoder()
const KEEP_ALIVE = ': keep-alive\n\n'

class Pump {
  readonly #source: SseSource
  readonly #options: SseBodyOptions
  readonly #gone = new AbortController()
  readonly #closeFromHere = (): void => this.#close()
  #controller: Controller | undefined
  #pulling = false
  #lastSent = 0
  #silence: Timer | undefined

  constructor(source: SseSource, options: SseBodyOptions) {
    this.#source = source
    this.#options = options
  }

  start(controller: Controller): void {
    const { hello, keepAliveMs, signal } = this.#options
    this.#controller = controller
    this.#send(hello)
    this.#watchSilence(keepAliveMs)
    if (signal?.aborted) this.#close()
    else signal?.addEventListener('abort', this.#closeFromHere)
  }

  async pull(): Promise<void> {
    this.#pulling = true
    try {
      const text = await this.#nextText()
      if (this.#gone.signal.aborted) return
      if (text === undefined) this.#close()
      else this.#send(text)
    } catch (thrown) {
      if (this.#gone.signal.aborted) return
      this.#send(this.#options.farewell(thrown))
      this.#close()
    } finally {
      this.#pulling = false
    }
  }

  /** The client went away; or we close. Whatever comes first lets everything go, once. */
  cancel(): void {
    const { signal } = this.#gone
    if (signal.aborted) return
    this.#gone.abort()
    this.#silence?.cancel()
    this.#options.signal?.removeEventListener('abort', this.#closeFromHere)
    this.#source.close()
    this.#options.onEnd()
  }

  #close(): void {
    this.cancel()
    this.#controller?.close()
  }

  async #nextText(): Promise<string | undefined> {
    const { signal } = this.#gone
    let text = await this.#source.next(signal)
    while (text === '' && !signal.aborted) text = await this.#source.next(signal)
    return text
  }

  #send(text: string): void {
    this.#lastSent = this.#options.clock.now()
    this.#controller?.enqueue(ENCODER.encode(text))
  }

  /** One timer for the whole stream, set again for the rest of the silence: batches touch no timer. */
  #watchSilence(ms: number): void {
    const { clock, keepAliveMs } = this.#options
    this.#silence = clock.after(ms, () => {
      if (this.#gone.signal.aborted) return
      const idle = clock.now() - this.#lastSent
      // A client that does not pull has something to read already.
      if (idle >= keepAliveMs && this.#pulling) this.#send(KEEP_ALIVE)
      this.#watchSilence(idle >= keepAliveMs ? keepAliveMs : keepAliveMs - idle)
    })
  }
}
