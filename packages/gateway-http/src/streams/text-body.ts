import { tokenEnded } from '@agentproto/contracts/wire'

export interface TextBodyOptions {
  /** Called with a later failure. Returns the error of the body; undefined if the connection is already closed. */
  readonly onFailure: (thrown: unknown) => Error | undefined
  /** Aborts when the token of the reader ends, who gets no more then. */
  readonly ended?: AbortSignal | undefined
}

/**
 * A body that is pulled piece by piece; a client that disconnects ends its source. The first two pieces are read before, so
 * that an early failure is still answered as an error: the Node server asks for as many before it sends the headers.
 */
export async function textBody(
  text: AsyncIterable<string | Uint8Array>,
  { onFailure, ended }: TextBodyOptions,
): Promise<ReadableStream<Uint8Array>> {
  const pieces = text[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  const early = [await pieces.next(), await pieces.next()]

  async function next(): Promise<IteratorResult<string | Uint8Array>> {
    const piece = early.shift() ?? (await pieces.next())
    if (ended?.aborted !== true) return piece
    void pieces.return?.()
    throw tokenEnded()
  }

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const { value, done } = await next()
      if (done === true) controller.close()
      else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
    } catch (thrown) {
      const error = onFailure(thrown)
      if (error !== undefined) controller.error(error)
    }
  }

  return new ReadableStream({ pull, cancel: async () => void (await pieces.return?.()) }, { highWaterMark: 0 })
}
