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
import { begunTurn, endedTurn, lostEnd } from './turn-record.js'
import { TurnWaiters } from './turn-waiters.js'

/** The turns of one session: the one that runs, the latest that ended, and whoever waits for one. */

const KEPT = 1_000
/** Output of the last turn that is kept for whoever asks late, in characters; that of others is read from the log. */
const MAX_KEPT_OUTPUT = 64 * 1024

interface OpenTurn {
  readonly turn: Turn
  readonly openTools: Set<string>
  readonly parts: TurnParts
  error: string | undefined
  produced: boolean
}

export class TurnBook {
  #ended: Turn[]
  #open: OpenTurn | undefined
  #count: number
  #last: TurnResult | undefined
  readonly #waiters = new TurnWaiters()
  /** Prompts that wait for their turn; the next numbers are theirs. */
  queued = 0

  /**
   * @param turns those that are stored; one that had not ended is left out, to be read from the log again
   * @param count number of the last turn
   */
  constructor(turns: readonly Turn[], count: number) {
    this.#ended = turns.filter(({ state }) => state === 'ended')
    this.#count = turns.length > this.#ended.length ? count - 1 : count
  }

  /** The turns are those of another book, which was made from the whole log; none may be running. */
  restore({ all, count }: TurnBook): void {
    this.#ended = all.filter(({ state }) => state === 'ended')
    this.#count = count
  }

  get count(): number {
    return this.#count
  }

  get current(): Turn | undefined {
    return this.#open?.turn
  }

  /** Tool calls of the running turn that have no result yet. */
  get openTools(): readonly string[] {
    return [...(this.#open?.openTools ?? [])]
  }

  /** Whether the running turn has produced anything that a person would call an answer. */
  get produced(): boolean {
    return this.#open?.produced ?? false
  }

  /** Oldest first, at most a thousand. */
  get all(): readonly Turn[] {
    return this.#open === undefined ? this.#ended : [...this.#ended, this.#open.turn]
  }

  begin(prompt: Pick<UserPrompt, 'queuedAt' | 'sent'>, seq: number, ts: string): Turn {
    if (this.#open !== undefined) throw new AgentprotoError('internal', 'A turn began while another ran')
    this.#count += 1
    const turn = begunTurn(this.#count, prompt, { seq, ts })
    this.#open = { turn, openTools: new Set(), parts: new TurnParts(), error: undefined, produced: false }
    return turn
  }

  /** Takes back a turn whose prompt could not be logged. */
  abandon(): void {
    if (this.#open === undefined) return
    this.#open = undefined
    this.#count -= 1
  }

  /** The running turn ended in a gap; an event of that time shows it. */
  lose(gap: EventGap, ts: string): void {
    if (this.#open === undefined) return
    this.#ended.push(lostEnd(this.#open.turn, gap, ts))
    this.#open = undefined
  }

  /** Turns up to this number were had, though nothing of them is left. */
  skipTo(number: number): void {
    this.#count = Math.max(this.#count, number)
  }

  /** Follows a stored event; ends the turn on its `turn-end`. */
  follow(event: SessionEvent): void {
    const open = this.#open
    if (open === undefined || event.turn !== open.turn.number) return
    open.parts.take(event)
    switch (event.type) {
      case 'text-delta':
      case 'thought':
        open.produced = true
        break
      case 'tool-call':
        open.produced = true
        open.openTools.add(event.toolCallId)
        break
      case 'tool-result':
        open.produced = true
        open.openTools.delete(event.toolCallId)
        break
      case 'error':
        open.error = event.message
        break
      case 'turn-end':
        this.#end(open, event)
        break
      default:
        break
    }
  }

  /** The first event of the turn that holds `seq`; 1 when that is not known. */
  startOf(seq: number): number {
    const all = this.all
    for (let i = all.length - 1; i >= 0; i -= 1) {
      const turn = all[i] as Turn
      if (turn.firstSeq <= seq) return turn.firstSeq
    }
    return 1
  }

  get(number: number): Turn | undefined {
    if (this.#open?.turn.number === number) return this.#open.turn
    return this.#ended.find((turn) => turn.number === number)
  }

  /** What a turn has put out so far; undefined for one whose output is only in the log. */
  output(number: number): TurnOutput | undefined {
    if (this.#open?.turn.number === number) return this.#open.parts.output()
    return this.#last?.number === number ? this.#last : undefined
  }

  /**
   * The result of a turn that has ended, when it is still at hand; a promise for one that runs or is queued.
   * Undefined for a turn that is only in the log.
   */
  wait(number: number, signal?: AbortSignal): Promise<TurnResult> | undefined {
    const running = this.#open?.turn.number === number
    if (running || (number > this.#count && number <= this.#count + this.queued))
      return this.#waiters.wait(number, signal)
    return this.#last?.number === number ? Promise.resolve(this.#last) : undefined
  }

  #end(open: OpenTurn, event: TurnEnd & { readonly seq: number; readonly ts: string }): void {
    const turn = endedTurn(open.turn, event, open.error)
    this.#open = undefined
    this.#ended.push(turn)
    if (this.#ended.length > KEPT) this.#ended = this.#ended.slice(-KEPT / 2)
    const result = { ...turn, ...open.parts.output() }
    this.#last = open.parts.chars > MAX_KEPT_OUTPUT ? undefined : result
    this.#waiters.settle(result)
  }
}
