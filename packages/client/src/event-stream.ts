import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { ClientSettings, FetchResponse } from './client-options.js'

/** A line of the gateway is at most 8 MiB of payload; a stream that buffers more than this is not one of ours. */
const MAX_BUFFER_CHARS = 64 * 1024 * 1024

/**
 * The messages of one event stream, a batch for each chunk that comes in. Ends when the stream ends;
 * throws when it breaks. One that is silent for `idleMs`, or whose signal aborts, is ended from here: a `fetch`
 * that was injected need not tie its body to the signal.
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
    // Frees the connection when the consumer stops early; a stream that broke refuses, which is fine.
    await reader.cancel().catch(() => undefined)
  }
}
