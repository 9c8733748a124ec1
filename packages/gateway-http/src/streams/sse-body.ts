import type { Clock, Timer } from '@agentproto/contracts'

/** What a stream is pulled from. */
export interface SseSource<Text extends string | Uint8Array = string> {
  /** @returns the next whole messages as one text, empty if there is none yet; undefined at the end */
  next(signal: AbortSignal): Promise<Text | undefined>
  close(): void
  /** Number of stored events that were not read yet, if known. */
  behind?(): number
}

export type AnySource = SseSource<string | Uint8Array>

export interface SseBodyOptions {
  readonly clock: Clock
  /** Milliseconds of silence after which a comment is sent. */
  readonly keepAliveMs: number
  /** Sent first, unless it is empty. */
  readonly hello: string
  /** Ends the stream from the side of the server. */
  readonly signal?: AbortSignal | undefined
  /** The last message if the source fails; empty for none. */
  readonly farewell: (thrown: unknown) => string
  /** Called once, however the stream ends. */
  readonly onEnd: () => void
}

const ENCODER = new TextEncoder()
const KEEP_ALIVE = ': keep-alive\n\n'

/**
 * A body of server-sent events that is pulled: one read of the client is one `next` of the source and one chunk. A stalled client
 * costs one batch, and a client that disconnects closes the source at once, also while the source waits for its next event.
 */
export function sseBody(source: AnySource, options: SseBodyOptions): ReadableStream<Uint8Array> {
  const { clock, keepAliveMs, hello, signal, farewell, onEnd } = options
  const gone = new AbortController()
  let controller: ReadableStreamDefaultController<Uint8Array>
  let isPulling = false
  let lastSent = 0
  let silence: Timer

  /** The client disconnects, the source ends or the server closes: the first one frees everything, once. */
  function release(): void {
    if (gone.signal.aborted) return
    gone.abort()
    silence.cancel()
    signal?.removeEventListener('abort', close)
    source.close()
    onEnd()
  }

  function close(): void {
    if (gone.signal.aborted) return
    release()
    controller.close()
  }

  function send(text: string | Uint8Array): void {
    lastSent = clock.now()
    if (text.length > 0) controller.enqueue(typeof text === 'string' ? ENCODER.encode(text) : text)
  }

  async function pull(): Promise<void> {
    isPulling = true
    try {
      let text = await source.next(gone.signal)
      while (text?.length === 0 && !gone.signal.aborted) text = await source.next(gone.signal)
      if (gone.signal.aborted) return
      if (text === undefined) close()
      else send(text)
    } catch (thrown) {
      if (gone.signal.aborted) return
      send(farewell(thrown))
      close()
    } finally {
      isPulling = false
    }
  }

  /** One timer for the whole stream, set again for the rest of the silence, so that batches set no timer. */
  function watchSilence(ms: number): void {
    silence = clock.after(ms, () => {
      if (gone.signal.aborted) return
      const idle = clock.now() - lastSent
      // A client that is not pulling still has something to read.
      if (idle >= keepAliveMs && isPulling) send(KEEP_ALIVE)
      watchSilence(idle >= keepAliveMs ? keepAliveMs : keepAliveMs - idle)
    })
  }

  function start(given: ReadableStreamDefaultController<Uint8Array>): void {
    controller = given
    send(hello)
    watchSilence(keepAliveMs)
    if (signal?.aborted) close()
    else signal?.addEventListener('abort', close)
  }

  // Nothing is pulled before the client reads: what waits, waits in the source.
  return new ReadableStream({ start, pull, cancel: release }, { highWaterMark: 0 })
}
