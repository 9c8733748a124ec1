import { type AgentAnswer, type AgentRequest, type Clock, settlesWithin, type TurnEnd } from '@agentproto/contracts'
import type { AgentSignal, AgentSink } from '@agentproto/contracts/agent'

/** Collects what an agent says, and denies its requests. */
export class Listener implements AgentSink {
  readonly #clock: Clock
  readonly #signal: AbortSignal
  #turn: HeardTurn | undefined
  /** Number of text deltas. */
  deltas = 0

  /** @param signal ends every wait */
  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock
    this.#signal = signal
  }

  /** Sends a prompt and collects its turn. */
  turn(send: () => Promise<void>): HeardTurn {
    const turn = new HeardTurn(this.#clock, this.#signal)
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
  readonly #end = deferred<TurnEnd | undefined>()
  /** The first output. */
  readonly #sign = deferred<undefined>()

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock
    const stop = (): void => this.#finish(undefined)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    void this.#end.promise.then(() => signal.removeEventListener('abort', stop))
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
  async ended(withinMs: number): Promise<TurnEnd | undefined> {
    return (await settlesWithin(withinMs, this.#end.promise, this.#clock)) ? this.#end.promise : undefined
  }

  /** Settles with the first output, the end, or after so many milliseconds. */
  begun(withinMs: number): Promise<unknown> {
    return settlesWithin(withinMs, this.#sign.promise, this.#clock)
  }

  #finish(end: TurnEnd | undefined): void {
    this.#end.resolve(end)
    this.#sign.resolve(undefined)
  }
}

function deferred<T>() {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>((settle) => (resolve = settle))
  return { promise, resolve }
}
