import type { Clock, Timer } from '@agentproto/contracts'

/** What a stream is pulled from. */
export interface SseSource {
  /**
   * The next messages, whole, as one text.
   * @returns undefined at the end; an empty text where there is nothing to say yet
   */
  next(signal: AbortSignal): Promise<string | undefined>
  close(): void
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
  const gone = new AbortController()
  const { clock, keepAliveMs, onEnd } = options
  let pulling = false
  let lastSent = clock.now()
  let silence: Timer | undefined
  let controller: ReadableStreamDefaultController<Uint8Array>

  function send(text: string): void {
    lastSent = clock.now()
    controller.enqueue(ENCODER.encode(text))
  }

  /** One timer for the whole stream, set again for the rest of the silence: batches touch no timer. */
  function watchSilence(ms: number): void {
    silence = clock.after(ms, () => {
      if (gone.signal.aborted) return
      const idle = clock.now() - lastSent
      const quiet = idle >= keepAliveMs
      // A client that does not pull has something to read already.
      if (quiet && pulling) send(KEEP_ALIVE)
      watchSilence(quiet ? keepAliveMs : keepAliveMs - idle)
    })
  }

  function end(): void {
    if (gone.signal.aborted) return
    gone.abort()
    silence?.cancel()
    options.signal?.removeEventListener('abort', closeFromHere)
    source.close()
    onEnd()
  }

  function closeFromHere(): void {
    end()
    controller.close()
  }

  async function pull(): Promise<void> {
    pulling = true
    try {
      const text = await nextText(source, gone.signal)
      if (gone.signal.aborted) return
      if (text === undefined) closeFromHere()
      else send(text)
    } catch (thrown) {
      if (gone.signal.aborted) return
      send(options.farewell(thrown))
      closeFromHere()
    } finally {
      pulling = false
    }
  }

  function start(own: ReadableStreamDefaultController<Uint8Array>): void {
    controller = own
    send(options.hello)
    watchSilence(keepAliveMs)
    if (options.signal?.aborted) closeFromHere()
    else options.signal?.addEventListener('abort', closeFromHere)
  }

  // Nothing is pulled before the client reads: what waits, waits in the source.
  return new ReadableStream({ start, pull, cancel: end }, { highWaterMark: 0 })
}

const ENCODER = new TextEncoder()
const KEEP_ALIVE = ': keep-alive\n\n'

async function nextText(source: SseSource, signal: AbortSignal): Promise<string | undefined> {
  let text = await source.next(signal)
  while (text === '' && !signal.aborted) text = await source.next(signal)
  return text
}
