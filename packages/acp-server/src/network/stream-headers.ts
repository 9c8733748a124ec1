/** Of an answer that is a stream of events. */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // Disables the buffers of nginx and other proxies (F67).
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
} as const
