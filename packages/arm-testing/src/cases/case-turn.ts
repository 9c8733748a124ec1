import { settlesWithin } from '@agentproto/contracts'
import type { AgentSignal } from '@agentproto/contracts/agent'
import { type CaseAgent, type CaseAround, CaseFailure, type EndedTurn } from './agent-case.js'
import { endOf, errorIn, excerpt, textOf } from './turn-signals.js'

/**
 * How long a turn must go on after its first event, in milliseconds, to be one that runs: the answer of a short one may be on its way.
 */
export const GOES_ON_MS = 200

/** A turn that was begun, with all waits bounded. */
export class CaseTurn {
  readonly #agent: CaseAgent
  readonly #around: CaseAround
  readonly #from: number
  readonly #sent: Promise<void>
  /** Why the prompt was refused. */
  #refused: string | undefined

  /** @param agent Default: the one of the case */
  constructor(text: string, around: CaseAround, agent: CaseAgent = around.agent) {
    this.#agent = agent
    this.#around = around
    this.#from = agent.sink.mark()
    this.#sent = agent.send(text)
    this.#sent.catch((thrown: unknown) => (this.#refused = thrown instanceof Error ? thrown.message : String(thrown)))
  }

  get signals(): readonly AgentSignal[] {
    return this.#agent.sink.signals.slice(this.#from)
  }

  /** Once the agent has shown that it works on the prompt, or the turn is over. */
  async begun(shows: (signal: AgentSignal) => boolean = isWork): Promise<void> {
    const { answerMs } = this.#around.limits
    const { sink } = this.#agent
    const shown = sink.until(() => sink.signals.slice(this.#from).some(shows))
    if (await this.#within(answerMs, Promise.race([shown, this.#settled()]))) return
    throw new CaseFailure(`a sign of work within ${seconds(answerMs)}`, 'nothing came')
  }

  /** Once the agent has requested something; false if the turn is over before. */
  async asked(): Promise<boolean> {
    const { answerMs } = this.#around.limits
    const { sink } = this.#agent
    const before = sink.asked.length
    const asked = sink.until(() => sink.asked.length > before)
    if (await this.#within(answerMs, Promise.race([asked, this.#settled()]))) return sink.asked.length > before
    throw new CaseFailure(
      `a permission request within ${seconds(answerMs)}`,
      'neither a request nor the end of the turn',
    )
  }

  /** Whether it ends in time. */
  endsWithin(ms: number): Promise<boolean> {
    return this.#within(ms, this.#settled())
  }

  /** The turn, once it has ended. @throws `CaseFailure` when it does not, or not as a turn should */
  async ended(withinMs: number = this.#around.limits.answerMs): Promise<EndedTurn> {
    if (!(await this.endsWithin(withinMs)))
      throw new CaseFailure(`the end of the turn within ${seconds(withinMs)}`, `it runs, after ${this.#summary()}`)
    if (this.#refused !== undefined) throw new CaseFailure('a prompt that is taken', this.#refused)
    const { dropped } = this.#agent.sink
    if (dropped > 0) throw new CaseFailure('a turn of reasonable size', `${dropped} events more than are kept`)
    const { signals } = this
    return { signals, end: endOf(signals) }
  }

  /** The turn, once it has ended as one that went well. */
  async answered(): Promise<EndedTurn> {
    const turn = await this.ended()
    const { reason, empty } = turn.end
    const error = errorIn(turn.signals)
    if (reason === 'end_turn' && empty !== true && error === undefined) return turn
    const how = error ?? `the turn ended with ${reason}${empty === true ? ', and nothing was in it' : ''}`
    throw new CaseFailure('an answer, and a turn that ends with end_turn', how)
  }

  #settled(): Promise<void> {
    return this.#sent.catch(() => undefined)
  }

  #within(ms: number, work: Promise<unknown>): Promise<boolean> {
    return settlesWithin(ms, work, this.#around.clock)
  }

  #summary(): string {
    const { signals } = this
    return signals.length === 0 ? 'no event' : `${signals.length} events: ${excerpt(textOf(signals)) || 'no text'}`
  }
}

const isWork = ({ type }: AgentSignal): boolean => type === 'text-delta' || type === 'thought' || type === 'tool-call'

export const seconds = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`)
