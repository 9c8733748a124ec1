import { AgentprotoError } from '@agentproto/contracts'
import type { AgentNotice, AgentSink, PermissionOption, StreamError } from '@agentproto/contracts'
import { Outbox } from './outbox.js'
import { PendingAsks } from './pending-asks.js'
import type { UserRequest } from './pending-asks.js'
import type { ToolUpdate } from './tool-calls.js'
import { Turn } from './turn.js'
import type { TurnOutcome, Verdict } from './turn.js'

/** A permission that an agent asks for, before its tool call is known to the turn. */
export interface PermissionAsk extends Omit<UserRequest, 'request'> {
  readonly tool: ToolUpdate
  readonly options: readonly PermissionOption[]
}

/**
 * One session's turns, and what it tells its host: one turn at a time, its events in order, its end told once, and
 * nothing of it told after.
 */
export class Conversation {
  readonly #outbox: Outbox
  readonly #asks: PendingAsks
  #turn: Turn | undefined
  #ended: AgentprotoError | undefined

  constructor(sink: AgentSink) {
    this.#outbox = new Outbox(sink)
    this.#asks = new PendingAsks(sink)
  }

  /** The turn that runs. */
  get turn(): Turn | undefined {
    return this.#turn
  }

  /** Why there is nobody to talk with any more. */
  get ended(): AgentprotoError | undefined {
    return this.#ended
  }

  /**
   * Opens a turn. An agent that ended meanwhile ends it at once, like one that ends in the middle of it: the turn
   * returned is over then.
   * @throws `session_ended` after `fail` with that code, `turn_in_progress`
   */
  begin(): Turn {
    if (this.#ended?.code === 'session_ended') throw this.#ended
    if (this.#turn) throw new AgentprotoError('turn_in_progress', 'A turn of this session runs already')
    const turn = new Turn()
    this.#turn = turn
    if (this.#ended) this.end(turn, { by: 'failure', error: { message: this.#ended.message } })
    return turn
  }

  /** The agent speaks. Returns false outside of a turn, where nothing is said. */
  said(type: 'text-delta' | 'thought', text: string, messageId?: string): boolean {
    if (!this.#turn) return false
    // An empty piece carries metadata at most; it is nothing that was said.
    if (text === '') return true
    this.#turn.productive = true
    this.#outbox.put(messageId === undefined ? { type, text } : { type, text, messageId })
    return true
  }

  /** The agent says something of a tool call. Returns false outside of a turn, and for a call that has ended. */
  tool(update: ToolUpdate): boolean {
    if (!this.#turn) return false
    this.#turn.productive = true
    const signals = this.#turn.tools.upsert(update)
    for (const signal of signals) this.#outbox.put(signal)
    return signals.length > 0
  }

  /** The agent reports an error in the middle of the turn, which goes on. Returns false outside of a turn. */
  error(error: Omit<StreamError, 'type'>): boolean {
    if (!this.#turn) return false
    this.#outbox.put({ type: 'error', ...error })
    return true
  }

  /** Puts a notice after what the agent has said. */
  put(notice: AgentNotice): void {
    this.#outbox.put(notice)
  }

  /** Whether the user can be asked: in a turn that is not being cancelled, and not too often at once. */
  get asking(): boolean {
    return this.#turn !== undefined && !this.#turn.cancelling && !this.#asks.full
  }

  /** Asks the user a question, once {@link asking}. */
  ask(id: unknown, asked: UserRequest): void {
    // What is said before is logged before.
    this.#outbox.flush()
    this.#asks.add(id, asked)
  }

  /** Asks the user for a permission, once {@link asking}; it may be the first that is heard of the call. */
  askPermission(id: unknown, { tool, options, reply, withdrawn }: PermissionAsk): void {
    const calls = this.#turn?.tools
    if (!calls) return reply({ outcome: 'cancelled' })
    const news = calls.news(tool)
    if (news) this.tool(news)
    const request = { kind: 'permission' as const, toolCall: calls.known(tool), options }
    this.ask(id, { request, reply, ...(withdrawn ? { withdrawn } : {}) })
  }

  /** The agent takes a request back. */
  withdraw(id: unknown): void {
    this.#asks.withdraw(id)
  }

  /** The host wants the turn to end: whoever waits for the user is answered. Returns it, the first time. */
  cancelling(): Turn | undefined {
    const turn = this.#turn
    if (!turn || turn.cancelling) return undefined
    turn.cancelling = true
    // An agent may wait for these answers before it stops.
    this.#asks.cancelAll()
    return turn
  }

  /**
   * The agent said how the turn ended. What is in the same read, or can be read already, is still inside the turn:
   * two immediates have one poll of the pipes between them, and no waiting.
   */
  answered(turn: Turn, verdict: Verdict): void {
    const outcome = { by: 'agent' as const, verdict }
    turn.answer ??= outcome
    setImmediate(() => setImmediate(() => this.end(turn, outcome)))
  }

  /** Ends the turn, unless it is over. */
  end(turn: Turn, outcome: TurnOutcome): void {
    if (this.#turn !== turn) return
    this.#turn = undefined
    this.#asks.cancelAll()
    for (const signal of turn.conclude(outcome)) this.#outbox.put(signal)
    const taken = this.#outbox.drain()
    if (taken) void taken.then(turn.resolve)
    else turn.resolve()
  }

  /**
   * There is nobody to talk with any more: a turn that runs ends with the outcome. Returns whether one was left
   * unanswered: an agent that answers and leaves is none that crashed.
   */
  fail(reason: AgentprotoError, outcome: TurnOutcome): boolean {
    this.#ended ??= reason
    this.#asks.cancelAll()
    this.#outbox.flush()
    const turn = this.#turn
    // What was answered already is so, whatever happens to the connection.
    if (turn) this.end(turn, turn.answer ?? outcome)
    return turn !== undefined && turn.answer === undefined
  }

  /** Emits what one read of the agent meant; the promise is the host's back-pressure. */
  drain(): Promise<unknown> | undefined {
    return this.#outbox.drain()
  }
}
