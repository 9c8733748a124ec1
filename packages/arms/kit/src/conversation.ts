import {
  type AgentNotice,
  type AgentRequest,
  AgentprotoError,
  defined,
  type StreamError,
  type TokenUsage,
  type ToolCall,
  type TurnEnd,
  type TurnEndReason,
} from '@agentproto/contracts'
import type { AgentSignal, AgentSink } from '@agentproto/contracts/agent'
import type { UserAsk } from './elicitation.js'
import { PendingRequests } from './pending-requests.js'
import type { Reply } from './pending-requests.js'
import { ToolCalls } from './tool-calls.js'
import type { ToolUpdate } from './tool-calls.js'
import type { Limit } from './within.js'

/** How the agent itself reports the end of the turn. */
export interface Verdict {
  readonly reason: TurnEndReason
  readonly error?: Omit<StreamError, 'type'>
  readonly usage?: TokenUsage
}

/** Why a turn ended: the agent's answer, a failure, or its host. */
export type TurnOutcome =
  | { readonly by: 'agent'; readonly verdict: Verdict }
  | { readonly by: 'failure'; readonly error: Omit<StreamError, 'type'> }
  | { readonly by: 'host' }

/** One prompt and its result. */
export interface Turn {
  /** Settles when the turn's end was emitted. */
  readonly done: Promise<void>
  /** Resolves `done`. */
  readonly resolve: () => void
  /** Absent until the agent mentions a tool call. */
  tools?: ToolCalls
  /** Its prompt is on its way to the agent: until then, it waits for an idle point. */
  isSent: boolean
  /** The host has cancelled it: the reason that the agent then reports does not count. */
  cancelling: boolean
  /** The agent's answer; the end of the turn is about to be emitted. */
  answer?: TurnOutcome
  /** Text, a thought or a tool call was received. */
  productive: boolean
}

/**
 * The turns of one session and the signals that its host gets: one turn at a time, signals in order, exactly one end a
 * turn, and no signal of a turn after its end. Signals are collected until `flush`, so that one read of the agent is one
 * batch.
 */
export class Conversation {
  /** The running turn. */
  turn: Turn | undefined
  /** Why the conversation is closed. */
  closed: AgentprotoError | undefined
  readonly #sink: AgentSink
  #requests: PendingRequests | undefined
  #batch: AgentSignal[] = []
  /** Settles when the host has taken what was emitted since the last `flush`. */
  #pressure: Promise<unknown> | undefined

  constructor(sink: AgentSink) {
    this.#sink = sink
  }

  /**
   * Starts a turn. If the agent has ended meanwhile, the returned turn has already ended with its failure.
   * @throws `session_ended` after `close` with that code, `turn_in_progress`
   */
  begin(): Turn {
    if (this.closed?.code === 'session_ended') throw this.closed
    if (this.turn) throw new AgentprotoError('turn_in_progress', 'A turn of this session runs already')
    let resolve = (): void => {}
    const done = new Promise<void>((settle) => (resolve = settle))
    const turn: Turn = { done, resolve, isSent: false, cancelling: false, productive: false }
    this.turn = turn
    if (this.closed) this.end(turn, { by: 'failure', error: { message: this.closed.message } })
    return turn
  }

  /**
   * Adds what the agent emitted, but for the end of a turn. Returns false for what belongs to a turn when none runs; it is
   * not added then.
   */
  add(signal: Exclude<AgentSignal, TurnEnd>): boolean {
    switch (signal.type) {
      case 'text-delta':
      case 'thought':
        return this.addText(signal.type, signal.text, signal.messageId)
      case 'tool-call':
      case 'tool-result': {
        const { type: _, status, ...update } = signal
        // An agent cannot interrupt its own call.
        return this.addToolUpdate({ ...update, ...defined({ status: status === 'interrupted' ? 'failed' : status }) })
      }
      case 'error':
        if (this.turn) this.#batch.push(signal)
        return this.turn !== undefined
      default:
        this.#batch.push(signal)
        return true
    }
  }

  /** Adds text of the agent. Returns false when no turn runs; the text is not added then. */
  addText(type: 'text-delta' | 'thought', text: string, messageId?: string): boolean {
    if (!this.turn) return false
    // An empty piece carries metadata at most: it does not make the turn productive.
    if (text === '') return true
    this.turn.productive = true
    this.#batch.push(messageId === undefined ? { type, text } : { type, text, messageId })
    return true
  }

  /** Adds what the agent says of a tool call. Returns false when no turn runs, and for a call that has ended. */
  addToolUpdate(update: ToolUpdate): boolean {
    if (!this.turn) return false
    this.turn.productive = true
    this.turn.tools ??= new ToolCalls()
    const signals = this.turn.tools.upsert(update)
    this.#batch.push(...signals)
    return signals.length > 0
  }

  /** What is known of a call, with what an update says of it. */
  callOf(update: ToolUpdate): ToolCall | undefined {
    return this.turn && (this.turn.tools ?? new ToolCalls()).known(update)
  }

  addNotice(notice: AgentNotice): void {
    this.#batch.push(notice)
  }

  /** Whether no prompt is with the agent, and all that was added is emitted. */
  get isIdle(): boolean {
    return this.turn?.isSent !== true && this.#batch.length === 0
  }

  /** Whether the user may be asked: a turn runs that is not being cancelled, and not too many requests wait. */
  get canAsk(): boolean {
    return this.turn !== undefined && !this.turn.cancelling && this.#requests?.full !== true
  }

  /** Asks the user; only when {@link canAsk}. A permission may be the first mention of its tool call. */
  ask(id: unknown, ask: UserAsk, to: Reply): void {
    const request = this.#requestOf(ask)
    if (!request) return to.reply({ outcome: 'cancelled' })
    this.#requests ??= new PendingRequests(this.#sink)
    this.#requests.add(id, request, to)
  }

  /** Adds what a request says of its tool call. An earlier host has asked the user, and the agent has the answer. */
  answered(ask: UserAsk): void {
    const request = this.#requestOf(ask)
    if (request) this.#sink.answered?.(request)
  }

  /** Earlier signals must be logged before the request. */
  #requestOf(ask: UserAsk): AgentRequest | undefined {
    if (!this.turn) return undefined
    const request = ask.kind === 'question' ? ask : { ...ask, toolCall: this.#blocked(this.turn, ask.toolCall) }
    this.#emit()
    return request
  }

  /** The call that waits for a permission, and adds what the request says of it. */
  #blocked(turn: Turn, update: ToolUpdate): ToolCall {
    const calls = (turn.tools ??= new ToolCalls())
    const news = calls.news(update)
    if (news) this.addToolUpdate(news)
    return calls.known(update)
  }

  /** The agent withdraws a request. */
  withdraw(id: unknown): void {
    this.#requests?.withdraw(id)
  }

  /** Marks the turn as cancelled by the host and answers its pending requests. Returns the turn the first time only. */
  beginCancel(): Turn | undefined {
    const turn = this.turn
    if (!turn || turn.cancelling) return undefined
    turn.cancelling = true
    // An agent may wait for these answers before it stops.
    this.cancelRequests()
    return turn
  }

  /** Answers what waits for the user with `cancelled`. */
  cancelRequests(): void {
    this.#requests?.cancelAll()
  }

  /**
   * The agent reported the end of the turn. Some agents send the last updates after it: what is in the same read, or can
   * be read already, still belongs to the turn. Two immediates have one poll of the pipes between them, and no waiting.
   * @param wait how long a turn that was answered without any content waits for late content
   */
  finish(turn: Turn, verdict: Verdict, wait?: Limit): void {
    const outcome = { by: 'agent' as const, verdict }
    turn.answer ??= outcome
    const end = this.end.bind(this, turn, outcome)
    const mayWait = wait !== undefined && !turn.productive && !turn.cancelling
    setImmediate(() => setImmediate(() => (mayWait && !turn.productive ? void wait.clock.after(wait.ms, end) : end())))
  }

  /** Ends the turn, unless it has ended. */
  end(turn: Turn, outcome: TurnOutcome): void {
    if (this.turn !== turn) return
    this.turn = undefined
    this.#requests?.cancelAll()
    this.#batch.push(...lastSignals(turn, outcome))
    const taken = this.flush()
    if (taken) void taken.then(turn.resolve)
    else turn.resolve()
  }

  /**
   * Closes the conversation for a reason; a running turn ends with the outcome, or with the agent's answer if it came
   * before. Returns whether a turn was left unanswered.
   */
  close(reason: AgentprotoError, outcome: TurnOutcome): boolean {
    this.closed ??= reason
    this.#requests?.cancelAll()
    this.#emit()
    const turn = this.turn
    if (turn) this.end(turn, turn.answer ?? outcome)
    return turn !== undefined && turn.answer === undefined
  }

  /** Emits what was collected. The promise is the host's back-pressure since the last call. */
  flush(): Promise<unknown> | undefined {
    this.#emit()
    const pressure = this.#pressure
    this.#pressure = undefined
    return pressure
  }

  #emit(): void {
    if (this.#batch.length === 0) return
    const batch = this.#batch
    this.#batch = []
    let taken: Promise<void> | undefined
    try {
      taken = this.#sink.emit(batch)?.catch(() => {})
    } catch {
      // A failure of the host must not prevent the end of the turn.
    }
    if (taken) this.#pressure = this.#pressure ? Promise.all([this.#pressure, taken]) : taken
  }
}

/** Emits what one read of an agent meant to several conversations; the promise is their hosts' back-pressure. */
export function flushAll(conversations: Iterable<{ readonly conversation: Conversation }>): void | Promise<void> {
  let pressure: Promise<unknown>[] | undefined
  for (const { conversation } of conversations) {
    const taken = conversation.flush()
    if (taken) (pressure ??= []).push(taken)
  }
  return pressure && Promise.all(pressure).then(() => {})
}

/** The last signals of a turn: open calls are interrupted, then an error if there was one, then the end. */
function lastSignals(turn: Turn, outcome: TurnOutcome): readonly AgentSignal[] {
  const { reason, error, usage } = verdictOf(turn, outcome)
  const end: TurnEnd = { type: 'turn-end', reason, ...(turn.productive ? {} : { empty: true }), ...defined({ usage }) }
  return [...(turn.tools?.interrupt() ?? []), ...(error ? [{ type: 'error' as const, ...error }] : []), end]
}

function verdictOf({ cancelling }: Turn, outcome: TurnOutcome): Verdict {
  if (outcome.by === 'host') return { reason: 'cancelled' }
  if (outcome.by === 'failure') return { reason: 'error', error: outcome.error }
  const { verdict } = outcome
  return cancelling ? { ...defined({ usage: verdict.usage }), reason: 'cancelled' } : verdict
}
