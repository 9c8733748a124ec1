import { AgentprotoError, type SessionEvent, type Turn, type TurnEnd, type TurnResult } from '@agentproto/contracts'
import { TextBuffer } from './text-buffer.js'
import { TurnWaiters } from './turn-waiters.js'

/** The turns of one session: the one that runs, the latest that ended, and whoever waits for one. */

const KEPT = 1_000
/** Text of a turn that is kept for its waiters, in characters; the log has all of it. */
const MAX_TEXT = 8 * 1024 * 1024

interface OpenTurn {
  readonly turn: Turn
  readonly openTools: Set<string>
  readonly text: TextBuffer
  error: string | undefined
  produced: boolean
}

export class TurnBook {
  #ended: Turn[]
  #open: OpenTurn | undefined
  #count: number
  #lastText = ''
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

  begin(firstSeq: number, startedAt: string): Turn {
    if (this.#open !== undefined) throw new AgentprotoError('internal', 'A turn began while another ran')
    this.#count += 1
    const turn: Turn = { number: this.#count, state: 'running', startedAt, firstSeq }
    this.#open = { turn, openTools: new Set(), text: new TextBuffer(MAX_TEXT), error: undefined, produced: false }
    return turn
  }

  /** Takes back a turn whose prompt could not be logged. */
  abandon(): void {
    if (this.#open === undefined) return
    this.#open = undefined
    this.#count -= 1
  }

  /** The queued prompts will never be sent. */
  dropQueued(): void {
    this.queued = 0
    this.#waiters.dropAfter(this.#count)
  }

  /** Follows a stored event; ends the turn on its `turn-end`. */
  follow(event: SessionEvent): void {
    const open = this.#open
    if (open === undefined || event.turn !== open.turn.number) return
    switch (event.type) {
      case 'text-delta':
        open.produced = true
        open.text.add(event.text)
        break
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

  /**
   * The result of a turn that has ended, when its text is still at hand; a promise for one that runs or is queued.
   * Undefined for a turn that is only in the log.
   */
  wait(number: number, signal?: AbortSignal): Promise<TurnResult> | undefined {
    const running = this.#open?.turn.number === number
    if (running || (number > this.#count && number <= this.#count + this.queued))
      return this.#waiters.wait(number, signal)
    const last = this.#ended.at(-1)
    if (last?.number !== number || number !== this.#count) return undefined
    return Promise.resolve({ ...last, text: this.#lastText })
  }

  #end(open: OpenTurn, event: TurnEnd & { readonly seq: number; readonly ts: string }): void {
    const turn: Turn = {
      ...open.turn,
      state: 'ended',
      endedAt: event.ts,
      reason: event.reason,
      lastSeq: event.seq,
      ...(event.empty === true ? { empty: true } : {}),
      ...(open.error === undefined ? {} : { error: open.error }),
    }
    this.#open = undefined
    this.#ended.push(turn)
    if (this.#ended.length > KEPT) this.#ended = this.#ended.slice(-KEPT / 2)
    this.#lastText = open.text.toString()
    this.#waiters.settle({ ...turn, text: this.#lastText })
  }
}
