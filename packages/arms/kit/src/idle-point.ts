import type { AgentAnswer, AgentRequest, Clock, Json, Timer } from '@agentproto/contracts'
import {
  type AgentSignal,
  type AgentSink,
  type AskOptions,
  keptFactsText,
  MAX_FACTS_BYTES,
} from '@agentproto/contracts/agent'
import type { StreamOffsets } from '@agentproto/contracts/agent'
import type { KeptProcess } from '@agentproto/subprocess'

/** How often room is made in a turn that is longer than what is kept, in milliseconds. */
const ROOM_MS = 1_000
/** How long a prompt waits for an idle point, in milliseconds. */
const POINT_MS = 2_000
/** How long after a turn its point is taken, in milliseconds: a prompt that comes sooner takes one itself. */
const REST_MS = 10

/** A kept process as the client that speaks with it sees it. */
export interface KeptLink {
  readonly process: Pick<
    KeptProcess,
    'first' | 'offsets' | 'acknowledge' | 'caughtUp' | 'begin' | 'onFull' | 'exit' | 'lost'
  >
  /** {@link KeptFacts.host} */
  readonly host: Json
  readonly clock: Clock
  /** Several sessions share the process. */
  readonly isShared?: boolean
}

/** What can be idle: a session with its one process. */
export interface IdleSubject {
  /** Whether it waits for nothing and has nothing that is not emitted; a turn whose prompt is not written does not count. */
  readonly isIdle: boolean
  /** What a later host needs to go on; see {@link KeptFacts.arm}. */
  facts(): Json
}

/**
 * The sink of a kept session, and the points from which a later host reads its agent again: all that was passed on is stored,
 * and nothing waits. The keeper then forgets what is before. Before each prompt is such a point, so that never more than one
 * turn is kept.
 */
export class IdlePoint implements AgentSink {
  readonly #sink: AgentSink
  readonly #link: KeptLink
  #subject: IdleSubject | undefined
  #isWarned = false
  /** Batches that are not stored yet, and requests that are not answered. */
  #open = 0
  readonly #waiting: (() => void)[] = []
  #last: { readonly offsets: StreamOffsets; readonly text: string; readonly isBusy: boolean } | undefined
  #resting: Timer | undefined
  /** Settles with the next point; what is emitted meanwhile holds up the agent. */
  #wanted: { readonly reached: Promise<void>; readonly reach: () => void } | undefined

  constructor(sink: AgentSink, link: KeptLink) {
    this.#sink = sink
    this.#link = link
    const { process } = link
    // What was kept before is translated again first: until then, a next host can do that too.
    process.onFull(() => void process.caughtUp.then(() => this.#makeRoom()))
    void Promise.race([process.exit, process.lost]).then(() => this.#makingRoom?.cancel())
  }

  #makingRoom: Timer | undefined

  /** The session is open: there are points from now on. */
  watch(subject: IdleSubject): void {
    this.#subject = subject
    this.#lookSoon()
  }

  emit(batch: readonly AgentSignal[]): void | Promise<void> {
    const stored = this.#opened(() => this.#sink.emit(batch))
    const reached = this.#wanted?.reached
    return stored && reached ? Promise.all([stored, reached]).then(() => {}) : (stored ?? reached)
  }

  ask(request: AgentRequest, signal: AbortSignal, options?: AskOptions): Promise<AgentAnswer> {
    this.#open++
    return this.#sink.ask(request, signal, options).finally(() => this.#closed())
  }

  answered(request: AgentRequest): void {
    this.#sink.answered?.(request)
  }

  /** Settles when all that was emitted is stored and nothing waits for an answer. */
  stored(): Promise<void> {
    if (this.#open === 0) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Takes a point at once, if this is one. Not while a batch is being handled. */
  renew(): void {
    const isWanted = this.#wanted !== undefined
    if (this.#open === 0 && this.#take(isWanted) && isWanted) this.#reach()
  }

  /** The facts are longer than a keeper stores. */
  tooLong(): void {
    if (this.#isWarned) return
    this.#isWarned = true
    this.#warn(TOO_LONG)
  }

  /** Looks whether this is a point, when something else than a batch or a request is over. */
  look(): void {
    this.#lookSoon()
  }

  /**
   * Takes the point before a prompt. A promise is returned while there is none yet. Where none comes in time, the agent goes on,
   * but cannot be adopted until the next one.
   */
  beforePrompt(): void | Promise<void> {
    if (this.#take(true)) return
    const wanted = (this.#wanted ??= deferred())
    const timer = this.#link.clock.after(POINT_MS, () => this.#giveUp())
    return wanted.reached.then(() => timer.cancel())
  }

  #opened(emit: () => void | Promise<void>): void | Promise<void> {
    this.#open++
    let stored: void | Promise<void> = undefined
    try {
      stored = emit()
    } finally {
      if (!stored) this.#closed()
    }
    return stored?.finally(() => this.#closed())
  }

  #closed(): void {
    if (--this.#open === 0) for (const resolve of this.#waiting.splice(0)) resolve()
    this.#lookSoon()
  }

  /** Never in the middle of a batch, of which the first lines may be handled and the last not. */
  #lookSoon(): void {
    if (this.#open === 0) queueMicrotask(() => this.#look())
  }

  #look(): void {
    if (this.#wanted === undefined) return this.#rest()
    if (this.#take(true)) this.#reach()
  }

  /** The point after a turn is not on the way of its answer. */
  #rest(): void {
    const { isBusy, text } = this.#last ?? { isBusy: false, text: '' }
    if (!isBusy || text === '') return void this.#take(false)
    if (this.#subject?.isIdle !== true) return
    this.#resting ??= this.#link.clock.after(REST_MS, () => {
      this.#resting = undefined
      if (this.#wanted === undefined) this.#take(false)
    })
  }

  /** Returns whether this is a point. */
  #take(isBusy: boolean): boolean {
    if (this.#open > 0 || this.#subject?.isIdle !== true) return false
    const mark = this.#sink.mark?.() ?? 0
    if (typeof mark !== 'number') {
      void this.#opened(() => mark)?.catch(() => {})
      return false
    }
    this.#makingRoom?.cancel()
    this.#makingRoom = undefined
    this.#resting?.cancel()
    this.#resting = undefined
    const facts = { mark, host: this.#link.host, arm: this.#subject.facts() }
    this.#acknowledge(this.#link.process.offsets, keptFactsText(facts), isBusy)
    return true
  }

  #acknowledge(offsets: StreamOffsets, text: string, isBusy: boolean): void {
    // Facts that a keeper would refuse must not leave those of an earlier turn in force.
    const isTooLong = Buffer.byteLength(text) > MAX_FACTS_BYTES
    if (isTooLong) this.tooLong()
    const stored = isTooLong ? '' : text
    const last = this.#last
    if (last?.text === stored && last.isBusy === isBusy && same(last.offsets, offsets)) return
    this.#last = { offsets, text: stored, isBusy }
    // A keeper that is lost is reported by the process.
    void this.#link.process.acknowledge(offsets, stored, isBusy)
  }

  #warn(notice: AgentSignal): void {
    void this.emit([notice])?.catch(() => {})
  }

  /** The keeper is full in the middle of a turn: the agent goes on, and what is forgotten for it is missing until the next point. */
  #makeRoom(): void {
    if (this.#makingRoom) return
    this.#warn(FULL)
    this.#forgetPassed()
  }

  #forgetPassed(): void {
    const { first, offsets } = this.#link.process
    // What waits for stdin is not yet with the keeper.
    const { stdin } = this.#last?.offsets ?? first
    this.#acknowledge({ ...offsets, stdin }, '', true)
    this.#makingRoom = this.#link.clock.after(ROOM_MS, () => this.#forgetPassed())
  }

  #giveUp(): void {
    if (this.#last) this.#acknowledge(this.#last.offsets, '', true)
    this.#reach()
  }

  #reach(): void {
    const wanted = this.#wanted
    this.#wanted = undefined
    wanted?.reach()
  }
}

const FULL: AgentSignal = {
  type: 'notice',
  severity: 'warning',
  text: 'Until the end of this turn, the agent ends with its gateway: it wrote more than is kept of one turn.',
}

const TOO_LONG: AgentSignal = {
  type: 'notice',
  severity: 'warning',
  text: 'The agent ends with its gateway: its modes, models and options are too long to be kept.',
}

const same = (a: StreamOffsets, b: StreamOffsets): boolean =>
  a.stdin === b.stdin && a.stdout === b.stdout && a.stderr === b.stderr

function deferred(): { readonly reached: Promise<void>; readonly reach: () => void } {
  let reach = (): void => {}
  const reached = new Promise<void>((resolve) => (reach = resolve))
  return { reached, reach }
}
