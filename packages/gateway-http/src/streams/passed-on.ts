import type { SseSource } from './sse-body.js'

/** A stream that is whole already, read piece by piece. */
export function passedOn(body: ReadableStream<Uint8Array>): SseSource<Uint8Array> {
  const reader = body.getReader()
  return {
    next: async () => (await reader.read()).value,
    close: () => void reader.cancel().catch(() => undefined),
  }
}
