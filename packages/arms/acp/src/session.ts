import { Conversation } from '@agentproto/arm-kit'
import type { IdlePoint, IdleSubject, Turn, TurnOutcome, UserAsk } from '@agentproto/arm-kit'
import {
  asRecord,
  type AgentCapabilities,
  type AgentInfo,
  AgentprotoError,
  type Clock,
  type ContentBlock,
  type Json,
  type ToolCall,
  type TraceContext,
} from '@agentproto/contracts'
import type { AgentSink, ArmSession, ConfigChange } from '@agentproto/contracts/agent'
import { askOf, cancelledAsk, isAsk, isNotAsked } from './agent-request.js'
import { type ConfigCall, SessionConfig } from './config.js'
import type { HostRequest, HostServices } from './host-services.js'
import type { TurnCatchUp } from './network/turn-catch-up.js'
import { extension } from './notice.js'
import { promptFor, responseVerdict } from './prompt.js'
import { type RpcAnswer, WITHDRAWN } from './rpc-answer.js'
import type { UsagePlaces } from './usage-in-meta.js'
import { type Phase, SessionUpdates } from './session-updates.js'

/** How long an answered turn without any content waits for it, in milliseconds: agents rarely answer nothing. */
const EMPTY_TURN_MS = 20

/** The connection as its sessions use it. */
export interface SessionLink {
  readonly peer: {
    send(method: string, params: object, answered?: (response: Json) => void): void
    expect(id: number, answered: (response: Json) => void): void
    respond(id: unknown, answer: RpcAnswer): void
  }
  readonly clock: Clock
  readonly info: AgentInfo
  readonly capabilities: AgentCapabilities
  readonly usagePlaces: UsagePlaces | undefined
  /** Sends a control request within the arm's time limit. */
  request(method: string, params: object): Promise<unknown>
  /** As `request`; the answer is applied in order with the updates. */
  change(call: ConfigCall, apply: (result: unknown) => void): Promise<void>
  /** The next ids of requests, for a later host. */
  readonly nextIds: { readonly own: number; readonly sdk: number }
  /** Settles when the connection is back that was lost, or is given up; undefined while there is one. */
  readonly away: Promise<void> | undefined
  forget(sessionId: string): void
}

export interface SessionStart {
  readonly agentSessionId: string
  readonly warnings: readonly string[]
  readonly phase: Phase
  /** What the host does for this session's agent. */
  readonly services?: HostServices | undefined
  /** Where a later host goes on, if the agent outlives this one. */
  readonly idle?: IdlePoint | undefined
  /** Of an agent whose connection may be lost and come back. */
  readonly catchUp?: TurnCatchUp | undefined
}

/** One conversation with an ACP agent. */
export class AcpSession implements ArmSession, IdleSubject {
  readonly agentSessionId: string
  readonly warnings: readonly string[]
  readonly config = new SessionConfig()
  readonly conversation: Conversation
  readonly services: HostServices | undefined
  readonly catchUp: TurnCatchUp | undefined
  readonly #link: SessionLink
  readonly #capabilities: AgentCapabilities
  readonly #idle: IdlePoint | undefined
  readonly #updates: SessionUpdates
  /** Changes of the configuration that wait for the agent. */
  #changing = 0
  interrupted = false

  constructor(link: SessionLink, sink: AgentSink, start: SessionStart) {
    const { agentSessionId, warnings, phase, services, idle, catchUp } = start
    this.#link = link
    this.catchUp = catchUp
    this.#capabilities = link.capabilities
    this.conversation = new Conversation(sink)
    this.agentSessionId = agentSessionId
    this.warnings = warnings
    this.services = services
    this.#idle = idle
    this.#updates = new SessionUpdates(phase, this)
  }

  get isIdle(): boolean {
    const isLoading = this.#updates.phase === 'loading'
    return this.conversation.isIdle && !isLoading && this.#changing === 0 && this.services?.isIdle !== false
  }

  facts(): Json {
    const { agentSessionId, warnings, config, services } = this
    const next = { ...this.#link.nextIds, served: services?.asked ?? 0 }
    return {
      protocol: 'acp',
      info: this.#link.info,
      agentSessionId,
      warnings,
      phase: this.#updates.phase,
      config: config.facts,
      next,
    }
  }

  async send(prompt: readonly ContentBlock[], trace?: TraceContext): Promise<void> {
    const turn = this.conversation.begin()
    this.#updates.phase = 'live'
    const adapted = promptFor(prompt, this.#capabilities)
    if ('refused' in adapted) this.conversation.end(turn, { by: 'failure', error: { message: adapted.refused } })
    else {
      this.catchUp?.begin(adapted.blocks)
      const waiting = this.#idle?.beforePrompt() ?? this.#link.away
      if (waiting) await waiting
      // It may be lost again before this is reached.
      while (this.#link.away) await this.#link.away
      const meta = trace === undefined ? {} : { _meta: { ...trace } }
      this.#prompt(turn, { sessionId: this.agentSessionId, prompt: adapted.blocks, ...meta })
    }
    return turn.done
  }

  /** Goes on with the turn whose prompt an earlier host has sent. */
  resumeTurn(promptId: number, isCancelled: boolean): Turn {
    const turn = this.conversation.begin()
    this.#updates.phase = 'live'
    turn.isSent = true
    turn.cancelling = isCancelled
    this.#link.peer.expect(promptId, (response) => this.#answered(turn, response))
    return turn
  }

  /** Settles when what was read has been emitted: requests for the user, and the end of a turn that was answered. */
  async settled(): Promise<void> {
    const { turn } = this.conversation
    await Promise.all([turn?.answer === undefined ? undefined : turn.done, this.services?.settled()])
  }

  /** Goes on with a change that an earlier host has requested. */
  resumeChange(id: number, call: ConfigCall): void {
    this.#changing++
    this.#link.peer.expect(id, (response) => {
      this.#changing--
      if (!('error' in response)) this.#configured(call, response['result'])
      this.#idle?.look()
    })
  }

  #prompt(turn: Turn, params: object): void {
    // If the agent has ended, so has the turn.
    if (this.conversation.turn !== turn) return
    if (turn.cancelling) return this.conversation.end(turn, { by: 'host' })
    turn.isSent = true
    this.#link.peer.send('session/prompt', params, (response) => this.#answered(turn, response))
  }

  #answered(turn: Turn, response: Json): void {
    this.catchUp?.answered(asRecord(response['result']))
    const wait = 'error' in response ? undefined : { ms: EMPTY_TURN_MS, clock: this.#link.clock }
    this.conversation.finish(turn, responseVerdict(response, this.#link.usagePlaces), wait)
  }

  async cancel(): Promise<void> {
    const { turn } = this.conversation
    if (!turn || turn.cancelling) return
    // Without a connection, the turn ends here; the agent gets the cancel once it is back.
    if (this.#link.away) {
      if (this.catchUp) this.catchUp.isCancelPending ||= turn.isSent
      return this.conversation.end(turn, { by: 'host' })
    }
    // Before the answers to what is pending, so that the agent does not act on one of them.
    if (turn.isSent) this.cancelAgent()
    this.conversation.beginCancel()
  }

  cancelAgent(): void {
    this.#link.peer.send('session/cancel', { sessionId: this.agentSessionId })
  }

  async configure(change: ConfigChange): Promise<void> {
    if (this.conversation.closed) throw this.conversation.closed
    const call = this.config.call(this.agentSessionId, change)
    this.#changing++
    try {
      await this.#link.change(call, (result) => this.#configured(call, result))
    } finally {
      this.#changing--
      this.#idle?.look()
    }
    // The caller finds the change in the session's record.
    await this.conversation.flush()
  }

  #configured(call: ConfigCall, result: unknown): void {
    this.conversation.addNotice({ type: 'config', config: this.config.agreed(call, result) })
  }

  async close(): Promise<void> {
    if (this.conversation.closed) return
    this.end(new AgentprotoError('session_ended', 'The session was closed'), { by: 'host' })
    this.#link.forget(this.agentSessionId)
    const closed = this.#capabilities.close
      ? this.#link.request('session/close', { sessionId: this.agentSessionId })
      : undefined
    await Promise.all([closed, this.services?.close()])
  }

  /** The connection ended, or the session is closed. Returns whether a turn was left unanswered. */
  end(reason: AgentprotoError, outcome: TurnOutcome): boolean {
    void this.services?.close()
    this.interrupted = this.conversation.close(reason, outcome)
    return this.interrupted
  }

  /** Updates of history that were left out. */
  get replayed(): number {
    return this.#updates.replayed
  }

  /** The agent is about to replay history. */
  loading(): void {
    this.#updates.phase = 'loading'
  }

  loaded(): void {
    if (this.#updates.phase === 'loading') this.#updates.phase = 'loaded'
  }

  /** The turn goes on, after a connection that was lost. */
  goesOn(): void {
    this.#updates.phase = 'live'
  }

  update(params: Json): void {
    this.#updates.add(params)
  }

  /** Handles a notification that is not part of ACP. @returns whether it is known */
  notified(method: string, params: Json): boolean {
    if (!this.catchUp || method !== '_agentproto/turn_ended') return false
    const verdict = this.catchUp.ended(params)
    const { turn } = this.conversation
    if (verdict && turn) this.conversation.finish(turn, verdict)
    return true
  }

  /**
   * Handles a request that the user answers.
   * @param isOld an earlier host may have asked it
   */
  ask(request: HostRequest, isOld: boolean): void {
    const { id, method, params } = request
    const { peer } = this.#link
    const asks = this.catchUp?.asks
    const asked = askOf(method, params)
    const call = this.#callOf(asked)
    if (asks?.isRepeated(request, call, peer.respond.bind(peer)) === true) return
    // An earlier host has cancelled the turn after it asked, or its answer would be there.
    const isOver = isOld && this.conversation.turn?.cancelling === true
    if (!asked || !(isOver || this.conversation.canAsk)) {
      this.conversation.addNotice(extension(method, params))
      return peer.respond(id, cancelledAsk(method))
    }
    const again = asks?.add(request, call, peer.respond.bind(peer))
    const respond = (answer: RpcAnswer): void => (again ? again.answer(answer) : peer.respond(id, answer))
    this.conversation.ask(again ?? id, asked.ask, {
      reply: (answer) => respond({ result: asked.result(answer) }),
      withdrawn: () => respond(WITHDRAWN),
    })
    if (isOver) this.conversation.cancelRequests()
  }

  #callOf(asked: { readonly ask: UserAsk } | undefined): ToolCall | undefined {
    return asked?.ask.kind === 'permission' ? this.conversation.callOf(asked.ask.toolCall) : undefined
  }

  /** Handles a request that an earlier host has answered: it is neither asked nor carried out again. */
  answered(request: HostRequest, answer: Json): void {
    const { method, params } = request
    if (!isAsk(method)) return this.services?.answered(request)
    const asked = askOf(method, params)
    if (asked && !isNotAsked(answer)) this.conversation.answered(asked.ask)
    else this.conversation.addNotice(extension(method, params))
  }

  withdraw(id: unknown): void {
    this.conversation.withdraw(this.catchUp?.asks.withId(id) ?? id)
    this.services?.withdraw(id)
  }

  /**
   * Handles a request that the host serves itself. Returns false for what is not offered.
   * @param isOld an earlier host may have begun with it
   */
  serve(request: HostRequest, isOld: boolean): boolean {
    if (this.conversation.closed || !this.services) return false
    const respond = (answer: RpcAnswer): void => {
      this.#link.peer.respond(request.id, answer)
      this.#idle?.look()
    }
    return isOld ? this.services.serveOld(request, respond) : this.services.serve(request, respond)
  }
}
