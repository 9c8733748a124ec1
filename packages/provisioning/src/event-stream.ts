import { EventQueue } from '@agentproto/contracts/agent'

interface EventStreamOptions<Event> {
  /** Aborts the work from elsewhere. */
  readonly signal?: AbortSignal | undefined
  /** Whether an event may be dropped while too many wait to be read: lines of output. */
  readonly expendable?: (event: Event) => boolean
}

/** Events that may wait before expendable ones are dropped. */
const WAITING_MAX = 2_000

/**
 * Runs work and gives its events as they come. The work starts with the first read; leaving the iteration aborts it and
 * waits until it has ended. An error of the work is thrown after its events.
 */
export async function* eventStream<Event>(
  work: (emit: (event: Event) => void, signal: AbortSignal) => Promise<void>,
  { signal, expendable = () => false }: EventStreamOptions<Event> = {},
): AsyncGenerator<Event, void, undefined> {
  const abort = new AbortController()
  const queue = new EventQueue<Event>()
  const emit = (event: Event): void => {
    if (queue.waiting < WAITING_MAX || !expendable(event)) void queue.push([event])
  }
  const signals = signal === undefined ? abort.signal : AbortSignal.any([abort.signal, signal])
  const running = work(emit, signals).then(
    () => queue.end(),
    (thrown: unknown) => queue.end(thrown),
  )
  try {
    yield* queue
  } finally {
    abort.abort()
    await running
  }
}
