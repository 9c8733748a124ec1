import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { ClientSettings, FetchResponse } from './client-options.js'

/** An event has at most 8 MiB of payload; a stream that buffers more is not from a gateway. */
const MAX_BUFFER_CHARS = 64 * 1024 * 1024

/**
 * The messages of one event stream, a batch per chunk. Ends when the stream ends; throws when it breaks. A stream that is silent for
 * `idleMs`, or whose signal aborts, is ended here, since an injected `fetch` may ignore the signal.
 */
export async function* readEventStream(
  response: FetchResponse,
  { clock, idleMs, signal }: Pick<ClientSettings, 'clock' | 'idleMs'> & { readonly signal: AbortSignal | undefined },
): AsyncGenerator<readonly EventSourceMessage[]> {
  if (response.body === null) return
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let batch: EventSourceMessage[] = []
  const parser = createParser({
    onEvent: (message) => batch.push(message),
    maxBufferSize: MAX_BUFFER_CHARS,
  })
  const hangUp = (): void => void reader.cancel().catch(() => undefined)
  signal?.addEventListener('abort', hangUp, { once: true })
  try {
    if (signal?.aborted) return
    for (;;) {
      const watchdog = clock.after(idleMs, hangUp)
      const { done, value } = await reader.read().finally(() => watchdog.cancel())
      if (done || value === undefined) return
      parser.feed(decoder.decode(value, { stream: true }))
      if (batch.length === 0) continue
      const messages = batch
      batch = []
      yield messages
    }
  } finally {
    signal?.removeEventListener('abort', hangUp)
    // Frees the connection if the consumer stops early; a broken stream rejects, which is ignored.
    await reader.cancel().catch(() => undefined)
  }
}
