/** The text of a body in pieces. Leaving the loop early cancels the stream. */
export async function* textOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const bytes of body) yield decoder.decode(bytes, { stream: true })
  yield decoder.decode()
}

/**
 * A body that is pulled piece by piece; a client that disconnects ends its source. The first piece is read before, so that an
 * immediate failure is still answered as an error.
 */
export async function textBody(text: AsyncIterable<string>): Promise<ReadableStream<Uint8Array>> {
  const pieces = text[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  let next: IteratorResult<string> | undefined = await pieces.next()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = next ?? (await pieces.next())
        next = undefined
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      async cancel() {
        await pieces.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
