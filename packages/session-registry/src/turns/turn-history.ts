import {
  AgentprotoError,
  type EventGap,
  type SessionEvent,
  type Turn,
  type TurnEnd,
  type TurnOutput,
  TurnParts,
  type TurnResult,
  type UserPrompt,
} from '@agentproto/contracts'
import type { LogObserver } from '../log/event-log.js'
import { begunTurn, endedTurn, lostEnd } from './turn-record.js'

/** The turns of one session, from its log: the running one, the latest that ended, and callers that wait for one. */

const KEPT = 1_000
/** Output of the last turn that is kept for late callers, in characters; that of others is read from the log. */
const MAX_KEPT_OUTPUT = 64 * 1024

interface RunningTurn {
  readonly turn: Turn
  readonly parts: TurnParts
  error: string | undefined
}

/** A turn that callers wait for. */
class Waiting {
  resolve: (result: TurnResult) => void = () => undefined
  readonly result = new Promise<TurnResult>((resolve) => (this.resolve = resolve))
}

export class TurnHistory implements LogObserver {
  #ended: Turn[]
  #running: RunningTurn | undefined
  #count: number
  #last: TurnResult | undefined
  readonly #waiting = new Map<number, Waiting>()

  /**
   * @param turns those that are stored; one that had not ended is left out, to be read from the log again
   * @param count number of the last turn
   */
  constructor(turns: readonly Turn[], count: number) {
    this.#ended = turns.filter(({ state }) => state === 'ended')
    this.#count = turns.length > this.#ended.length ? count - 1 : count
  }

  /** Replaces the turns by those of a history that was made from the whole log; none may be running. */
  restore({ all, count }: TurnHistory): void {
    this.#ended = all.filter(({ state }) => state === 'ended')
    this.#count = count
  }

  get count(): number {
    return this.#count
  }

  get current(): Turn | undefined {
    return this.#running?.turn
  }

  /** Oldest first, at most a thousand. */
  get all(): readonly Turn[] {
    return this.#running === undefined ? this.#ended : [...this.#ended, this.#running.turn]
  }

  /** Follows events of the log, in order. */
  effective(events: readonly SessionEvent[]): void {
    for (const event of events) this.follow(event)
  }

  follow(event: SessionEvent): void {
    if (event.type === 'user-prompt') this.begin(event, event.seq, event.ts)
    const running = this.#running
    if (running === undefined || event.turn !== running.turn.number) return
    running.parts.add(event)
    if (event.type === 'error') running.error = event.message
    if (event.type === 'turn-end') this.#end(running, event)
  }

  begin(prompt: Pick<UserPrompt, 'queuedAt' | 'sent'>, seq: number, ts: string): void {
    this.#count += 1
    const turn = begunTurn(this.#count, prompt, { seq, ts })
    this.#running = { turn, parts: new TurnParts(), error: undefined }
  }

  /** The running turn ended in a gap, as an event after the gap shows. */
  lose(gap: EventGap, ts: string): void {
    if (this.#running === undefined) return
    this.#ended.push(lostEnd(this.#running.turn, gap, ts))
    this.#running = undefined
  }

  /** There were turns up to this number, although nothing of them is left. */
  skipTo(number: number): void {
    this.#count = Math.max(this.#count, number)
  }

  /** The first event of the turn that holds `seq`; 1 when that is not known. */
  startOf(seq: number): number {
    return this.all.findLast(({ firstSeq }) => firstSeq <= seq)?.firstSeq ?? 1
  }

  /** What a turn has put out so far; undefined for one whose output is only in the log. */
  output(number: number): TurnOutput | undefined {
    if (this.#running?.turn.number === number) return this.#running.parts.output()
    return this.#last?.number === number ? this.#last : undefined
  }

  /**
   * The result of the last turn, or a promise of it for a turn that runs or is one of the `queued` next ones. Undefined for
   * a turn that is only in the log. @throws `cancelled` when the signal aborts
   */
  wait(number: number, queued: number, signal?: AbortSignal): Promise<TurnResult> | undefined {
    const isRunning = this.#running?.turn.number === number
    if (!isRunning && (number <= this.#count || number > this.#count + queued))
      return this.#last?.number === number ? Promise.resolve(this.#last) : undefined
    const waiting = this.#waiting.get(number) ?? new Waiting()
    this.#waiting.set(number, waiting)
    return signal === undefined ? waiting.result : abortable(waiting.result, signal)
  }

  #end({ turn, parts, error }: RunningTurn, event: TurnEnd & { readonly seq: number; readonly ts: string }): void {
    const ended = endedTurn(turn, event, error)
    this.#running = undefined
    this.#ended.push(ended)
    if (this.#ended.length > KEPT) this.#ended = this.#ended.slice(-KEPT / 2)
    const result = { ...ended, ...parts.output() }
    this.#last = parts.chars > MAX_KEPT_OUTPUT ? undefined : result
    this.#waiting.get(ended.number)?.resolve(result)
    this.#waiting.delete(ended.number)
  }
}

function abortable(result: Promise<TurnResult>, signal: AbortSignal): Promise<TurnResult> {
  return new Promise((resolve, reject) => {
    const cancel = (): void =>
      reject(new AgentprotoError('cancelled', 'The wait for the turn was cancelled; the turn goes on'))
    if (signal.aborted) return cancel()
    signal.addEventListener('abort', cancel, { once: true })
    void result.then(resolve).finally(() => signal.removeEventListener('abort', cancel))
  })
}
