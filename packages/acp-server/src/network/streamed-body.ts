/** A body whose end is known, however it comes: its source ends, or its reader leaves. */
export function streamedBody(body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let isOver = false
  const over = (): void => {
    if (isOver) return
    isOver = true
    onEnd()
  }
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          over()
          controller.close()
        } catch {
          // The connection has ended, which is an end like any other.
          over()
          controller.close()
        }
      },
      async cancel(reason) {
        over()
        await reader.cancel(reason)
      },
    },
    // Nothing is read before the client reads: what waits, waits in its connection, within its bound.
    { highWaterMark: 0 },
  )
}
