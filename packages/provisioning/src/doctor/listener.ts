import type { AgentAnswer, AgentRequest, Clock, TurnEnd } from '@agentproto/contracts'
import type { AgentSignal, AgentSink } from '@agentproto/contracts/agent'

/** Collects what an agent says, and denies its requests. */
export class Listener implements AgentSink {
  readonly #clock: Clock
  #turn: HeardTurn | undefined
  /** Number of text deltas. */
  deltas = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Sends a prompt and collects its turn. */
  turn(send: () => Promise<void>): HeardTurn {
    const turn = new HeardTurn(this.#clock)
    this.#turn = turn
    send().catch((thrown: unknown) => turn.fail(thrown instanceof Error ? thrown.message : String(thrown)))
    return turn
  }

  emit(batch: readonly AgentSignal[]): void {
    for (const signal of batch) {
      if (signal.type === 'text-delta') this.deltas++
      this.#turn?.hear(signal)
    }
  }

  ask(request: AgentRequest): Promise<AgentAnswer> {
    const reject =
      request.kind === 'permission' ? request.options.find(({ kind }) => kind === 'reject_once') : undefined
    return Promise.resolve(
      reject === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: reject.optionId },
    )
  }
}

/** One turn of the examination. */
class HeardTurn {
  text = ''
  error: string | undefined
  readonly #clock: Clock
  readonly #end = deferred<TurnEnd>()
  /** The first output. */
  readonly #sign = deferred<undefined>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  hear(signal: AgentSignal): void {
    if (signal.type === 'text-delta') this.text = (this.text + signal.text).slice(0, 10_000)
    if (signal.type === 'error') this.error = signal.message
    if (signal.type === 'text-delta' || signal.type === 'thought' || signal.type === 'tool-call')
      this.#sign.resolve(undefined)
    if (signal.type === 'turn-end') this.#finish(signal)
  }

  fail(message: string): void {
    this.error ??= message
    this.#finish({ type: 'turn-end', reason: 'error' })
  }

  /** The end of the turn; undefined when it did not come in time (milliseconds). */
  ended(withinMs: number, signal: AbortSignal): Promise<TurnEnd | undefined> {
    return within(this.#end.promise, withinMs, { clock: this.#clock, signal })
  }

  /** Settles with the first output, the end, or after so many milliseconds. */
  begun(withinMs: number, signal: AbortSignal): Promise<void> {
    return within(this.#sign.promise, withinMs, { clock: this.#clock, signal })
  }

  #finish(end: TurnEnd): void {
    this.#end.resolve(end)
    this.#sign.resolve(undefined)
  }
}

function deferred<T>() {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>((settle) => (resolve = settle))
  return { promise, resolve }
}

function within<T>(
  work: Promise<T>,
  ms: number,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<T | undefined> {
  return new Promise((resolve) => {
    const stop = (): void => resolve(undefined)
    if (signal.aborted) return stop()
    const timer = clock.after(ms, stop)
    signal.addEventListener('abort', stop, { once: true })
    void work.then(resolve).finally(() => {
      timer.cancel()
      signal.removeEventListener('abort', stop)
    })
  })
}
