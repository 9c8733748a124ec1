import type { AgentAnswer, AgentRequest } from '@agentproto/contracts'
import type { AgentSignal, AgentSink, AskOptions } from '@agentproto/contracts/agent'
import { messageOf } from '../lifecycle/ending.js'
import { type LoggedRequests, requestDigest } from './logged-requests.js'
import type { Replay } from './replay.js'

/** What is done with the rest of what an adopted agent emits. */
export interface AdoptionTarget extends Required<Pick<AgentSink, 'emit' | 'ask' | 'mark'>> {
  /** The agent waits again for the answer to a request that the log has. */
  readonly askAgain: (again: AskedAgain, signal: AbortSignal) => Promise<AgentAnswer>
  /** The log and what was kept do not agree. Nothing of the turn is logged any more. @param why for people */
  readonly differ: (why: string, turn: number | undefined) => Promise<void>
}

/** A request that the log has. */
export interface AskedAgain extends AskOptions {
  readonly requestId: string
  readonly request: AgentRequest
}

/** What an adopted agent is compared with. */
export interface Expected {
  readonly replay: Replay
  readonly requests: LoggedRequests
  readonly redact?: ((text: string) => string) | undefined
  /** The turn that is emitted again. */
  readonly turn: number | undefined
  /** An earlier host could not compare it either: nothing is logged until the turn is over. */
  readonly isGivenUp: boolean
}

const CANCELLED: AgentAnswer = { outcome: 'cancelled' }

/** Stands between an adopted agent and its session: what the log has is skipped, the rest goes on, all in order. */
export class AdoptionSink implements AgentSink {
  readonly #target: AdoptionTarget
  /** `replaying` until the log has nothing more; `dropping` until the turn that differs is over. */
  #phase: 'replaying' | 'dropping' | 'live' = 'replaying'
  #expected: Expected | undefined
  #hasCaughtUp = false
  /** How much of what was emitted waits to be handled: nothing goes past it. */
  #waiting = 0
  #open: () => void = () => undefined
  /** What was emitted so far was handled. Nothing is before the sink is opened. */
  #handled: Promise<void> = new Promise((resolve) => (this.#open = resolve))

  constructor(target: AdoptionTarget) {
    this.#target = target
  }

  /** Lets through what waits. */
  open(expected: Expected): void {
    this.#expected = expected
    if (expected.isGivenUp) this.#phase = 'dropping'
    this.#open()
  }

  /** Resolves when all that was emitted so far is stored. */
  get handled(): Promise<void> {
    return this.#handled
  }

  emit(batch: readonly AgentSignal[]): void | Promise<void> {
    return this.#phase === 'live' ? this.#target.emit(batch) : this.#next(() => this.#take(batch))
  }

  async ask(request: AgentRequest, signal: AbortSignal, options?: AskOptions): Promise<AgentAnswer> {
    if (this.#phase === 'live') return this.#target.ask(request, signal, options)
    let answer: Promise<AgentAnswer> | undefined
    await this.#next(() => {
      answer = this.#ask(request, signal, options)
    })
    return answer ?? CANCELLED
  }

  answered(request: AgentRequest): void {
    if (this.#phase !== 'live') void this.#next(() => void this.#known(request))
  }

  mark(): number | Promise<void> {
    return this.#waiting > 0 ? this.#handled : this.#target.mark()
  }

  /** All that was kept was emitted. */
  caughtUp(): Promise<void> {
    return this.#next(async () => {
      await this.#compare(({ replay }) => replay.finish())
      this.#hasCaughtUp = true
    })
  }

  /** The turn that was running is over. */
  turnOver(): Promise<void> {
    return this.#next(() => {
      if (this.#phase === 'dropping') this.#phase = 'live'
    })
  }

  #next(handle: () => void | Promise<void>): Promise<void> {
    this.#waiting += 1
    return (this.#handled = this.#handled.then(handle).then(() => this.#goLive()))
  }

  #goLive(): void {
    this.#waiting -= 1
    const isOver = this.#hasCaughtUp && this.#expected?.replay.isOver === true
    if (this.#phase === 'replaying' && isOver && this.#waiting === 0) this.#phase = 'live'
  }

  #take(batch: readonly AgentSignal[]): Promise<void> {
    return this.#compare(async ({ replay }) => {
      const fresh = await replay.take(batch)
      if (fresh.length > 0) await this.#target.emit(fresh)
    })
  }

  /** What cannot be compared is a difference too. */
  async #compare(compare: (expected: Expected) => Promise<void>): Promise<void> {
    if (this.#phase === 'dropping' || this.#expected === undefined) return
    try {
      await compare(this.#expected)
    } catch (difference) {
      this.#phase = 'dropping'
      await this.#target.differ(messageOf(difference), this.#expected.turn)
    }
  }

  #ask(request: AgentRequest, signal: AbortSignal, options?: AskOptions): Promise<AgentAnswer> {
    if (this.#phase === 'dropping') return Promise.resolve(CANCELLED)
    const requestId = this.#known(request)
    return requestId === undefined
      ? this.#target.ask(request, signal, options)
      : this.#target.askAgain({ ...options, requestId, request }, signal)
  }

  #known(request: AgentRequest): string | undefined {
    return this.#expected?.requests.take(requestDigest(request, this.#expected.redact))
  }
}
