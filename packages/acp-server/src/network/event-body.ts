import type { NumberedOutput } from './numbered-output.js'

const encoder = new TextEncoder()

interface Options {
  /** Ends it from the side of the server. */
  readonly signal: AbortSignal
  /** Called once, however it ends. */
  readonly onEnd: () => void
}

/** The body of an event stream. What the client does not read stays in the output. */
export function eventBody(output: NumberedOutput, { signal, onEnd }: Options): ReadableStream<Uint8Array> {
  const gone = new AbortController()
  let controller: ReadableStreamDefaultController<Uint8Array>

  function release(): void {
    if (gone.signal.aborted) return
    gone.abort()
    signal.removeEventListener('abort', close)
    onEnd()
  }

  function close(): void {
    if (gone.signal.aborted) return
    release()
    controller.close()
  }

  function start(given: ReadableStreamDefaultController<Uint8Array>): void {
    controller = given
    if (signal.aborted) close()
    else signal.addEventListener('abort', close)
  }

  async function pull(): Promise<void> {
    if (await output.ready(gone.signal)) controller.enqueue(encoder.encode(output.take()))
    else close()
  }

  // Nothing is taken before the client reads.
  return new ReadableStream({ start, pull, cancel: release }, { highWaterMark: 0 })
}
