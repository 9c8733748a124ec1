/** Work that tells what it does while it does it. */
export type Work<Event> = (emit: (event: Event) => void, signal: AbortSignal) => Promise<void>

export interface EventStreamOptions<Event> {
  /** Ends the work from elsewhere. */
  readonly signal?: AbortSignal | undefined
  /** Whether an event may be left out when nobody reads: lines of output. */
  readonly expendable?: (event: Event) => boolean
}

/** Events that may wait before expendable ones are left out. */
const WAITING_MAX = 2_000

/**
 * Runs work and gives its events as they come. The work starts with the first read; leaving the iteration
 * aborts it and waits until it has ended. What it throws is thrown to the reader, after its events.
 */
export async function* eventStream<Event>(
  work: Work<Event>,
  { signal, expendable = () => false }: EventStreamOptions<Event> = {},
): AsyncGenerator<Event, void, undefined> {
  const abort = new AbortController()
  const waiting: Event[] = []
  let wake = (): void => undefined
  let ended = false
  const emit = (event: Event): void => {
    if (waiting.length >= WAITING_MAX && expendable(event)) return
    waiting.push(event)
    wake()
  }
  const running = work(emit, signal === undefined ? abort.signal : AbortSignal.any([abort.signal, signal])).finally(
    () => {
      ended = true
      wake()
    },
  )
  // It is awaited below; until then its failure is nobody's.
  running.catch(() => undefined)
  try {
    for (;;) {
      while (waiting.length > 0) yield waiting.shift() as Event
      if (ended) break
      await new Promise<void>((resolve) => {
        wake = resolve
        if (waiting.length > 0 || ended) resolve()
      })
    }
    await running
  } finally {
    abort.abort()
    await running.catch(() => undefined)
  }
}
