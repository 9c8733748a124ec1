import { Conversation, isContentBlock } from '@agentproto/arm-kit'
import type { IdlePoint, IdleSubject, Turn, TurnOutcome } from '@agentproto/arm-kit'
import {
  type AgentCapabilities,
  type AgentInfo,
  type AgentNotice,
  AgentprotoError,
  asRecord,
  asString,
  type Clock,
  type ContentBlock,
  type Json,
  promptText,
  type TraceContext,
} from '@agentproto/contracts'
import type { AgentSink, ArmSession, ConfigChange } from '@agentproto/contracts/agent'
import { askOf, cancelledAsk, isAsk, isNotAsked } from './agent-request.js'
import { type ConfigCall, SessionConfig } from './config.js'
import type { HostRequest, HostServices } from './host-services.js'
import { extension, noticeOf } from './notice.js'
import { promptFor, responseVerdict } from './prompt.js'
import { type RpcAnswer, WITHDRAWN } from './rpc-answer.js'
import type { UsagePlaces } from './usage-in-meta.js'
import { parseToolUpdate } from './tool-call.js'

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
}

/** `loading`: the agent replays history. `loaded`: it answered the load, but may still replay. `live`: updates are new. */
type Phase = 'loading' | 'loaded' | 'live'

/** One conversation with an ACP agent. */
export class AcpSession implements ArmSession, IdleSubject {
  readonly agentSessionId: string
  readonly warnings: readonly string[]
  readonly config = new SessionConfig()
  readonly conversation: Conversation
  readonly services: HostServices | undefined
  readonly #link: SessionLink
  readonly #capabilities: AgentCapabilities
  readonly #idle: IdlePoint | undefined
  #phase: Phase
  /** Changes of the configuration that wait for the agent. */
  #changing = 0
  interrupted = false
  /** Updates of history that were left out. */
  replayed = 0

  constructor(link: SessionLink, sink: AgentSink, { agentSessionId, warnings, phase, services, idle }: SessionStart) {
    this.#link = link
    this.#capabilities = link.capabilities
    this.conversation = new Conversation(sink)
    this.agentSessionId = agentSessionId
    this.warnings = warnings
    this.services = services
    this.#idle = idle
    this.#phase = phase
  }

  get isIdle(): boolean {
    const isLoading = this.#phase === 'loading'
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
      phase: this.#phase,
      config: config.facts,
      next,
    }
  }

  async send(prompt: readonly ContentBlock[], trace?: TraceContext): Promise<void> {
    const turn = this.conversation.begin()
    this.#phase = 'live'
    const adapted = promptFor(prompt, this.#capabilities)
    if ('refused' in adapted) this.conversation.end(turn, { by: 'failure', error: { message: adapted.refused } })
    else {
      const waiting = this.#idle?.beforePrompt()
      if (waiting) await waiting
      const meta = trace === undefined ? {} : { _meta: { ...trace } }
      this.#prompt(turn, { sessionId: this.agentSessionId, prompt: adapted.blocks, ...meta })
    }
    return turn.done
  }

  /** Goes on with the turn whose prompt an earlier host has sent. */
  resumeTurn(promptId: number, isCancelled: boolean): Turn {
    const turn = this.conversation.begin()
    this.#phase = 'live'
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
    const wait = 'error' in response ? undefined : { ms: EMPTY_TURN_MS, clock: this.#link.clock }
    this.conversation.finish(turn, responseVerdict(response, this.#link.usagePlaces), wait)
  }

  async cancel(): Promise<void> {
    const { turn } = this.conversation
    if (!turn || turn.cancelling) return
    // Before the answers to what is pending, so that the agent does not act on one of them.
    if (turn.isSent) this.#link.peer.send('session/cancel', { sessionId: this.agentSessionId })
    this.conversation.beginCancel()
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

  loaded(): void {
    if (this.#phase === 'loading') this.#phase = 'loaded'
  }

  /** Adds the `update` of a `session/update` to the conversation. */
  update(update: Json): void {
    switch (update['sessionUpdate']) {
      case 'agent_message_chunk':
        return this.#addText('text-delta', update)
      case 'agent_thought_chunk':
        return this.#addText('thought', update)
      case 'tool_call':
      case 'tool_call_update':
        return this.#addToolCall(update)
      case 'user_message_chunk':
        return this.#addOutsideOfTurn(update)
      case 'config_option_update':
        return this.conversation.addNotice({
          type: 'config',
          config: this.config.optionsChanged(update['configOptions']),
        })
      default:
        return this.#addNotice(noticeOf(update))
    }
  }

  /**
   * Handles a request that the user answers.
   * @param isOld an earlier host may have asked it
   */
  ask({ id, method, params }: HostRequest, isOld: boolean): void {
    const { peer } = this.#link
    const asked = askOf(method, params)
    // An earlier host has cancelled the turn after it asked, or its answer would be there.
    const isOver = isOld && this.conversation.turn?.cancelling === true
    if (!asked || !(isOver || this.conversation.canAsk)) {
      this.conversation.addNotice(extension(method, params))
      return peer.respond(id, cancelledAsk(method))
    }
    this.conversation.ask(id, asked.ask, {
      reply: (answer) => peer.respond(id, { result: asked.result(answer) }),
      withdrawn: () => peer.respond(id, WITHDRAWN),
    })
    if (isOver) this.conversation.cancelRequests()
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
    this.conversation.withdraw(id)
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

  #addText(type: 'text-delta' | 'thought', update: Json): void {
    if (!this.conversation.turn) return this.#addOutsideOfTurn(update)
    const content = asRecord(update['content'])
    const plain = content['type'] === 'text' ? asString(content['text']) : undefined
    if (plain === undefined) this.conversation.addNotice(extension(String(update['sessionUpdate']), update))
    const text = plain ?? (isContentBlock(content) ? promptText([content]) : '')
    this.conversation.addText(type, text, asString(update['messageId']))
  }

  #addToolCall(update: Json): void {
    const call = parseToolUpdate(update)
    if (!this.conversation.turn || !call) this.#addOutsideOfTurn(update)
    else if (!this.conversation.addToolUpdate(call))
      this.conversation.addNotice(extension(String(update['sessionUpdate']), update))
  }

  /** Messages that belong to no turn: history, or an agent that goes on after its turn's end. */
  #addOutsideOfTurn(update: Json): void {
    if (this.#phase !== 'live') this.replayed++
    else this.conversation.addNotice(extension(String(update['sessionUpdate']), update))
  }

  #addNotice(notice: AgentNotice): void {
    const isState = notice.type === 'config' || notice.type === 'title' || notice.type === 'usage'
    if (this.#phase === 'loading' && !isState) this.replayed++
    else this.conversation.addNotice(notice)
  }
}
