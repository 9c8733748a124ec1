import { Conversation, isContentBlock } from '@agentproto/arm-kit'
import type { TurnOutcome } from '@agentproto/arm-kit'
import {
  type AgentCapabilities,
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
import { permissionRequest, questionRequest } from './agent-request.js'
import { SessionConfig } from './config.js'
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
    respond(id: unknown, answer: RpcAnswer): void
  }
  readonly clock: Clock
  readonly capabilities: AgentCapabilities
  readonly usagePlaces: UsagePlaces | undefined
  /** Sends a control request within the arm's time limit. */
  request(method: string, params: object): Promise<unknown>
  forget(sessionId: string): void
}

export interface SessionStart {
  readonly agentSessionId: string
  readonly warnings: readonly string[]
  readonly phase: Phase
  /** What the host does for this session's agent. */
  readonly services?: HostServices | undefined
}

/** `loading`: the agent replays history. `loaded`: it answered the load, but may still replay. `live`: updates are new. */
type Phase = 'loading' | 'loaded' | 'live'

/** One conversation with an ACP agent. */
export class AcpSession implements ArmSession {
  readonly agentSessionId: string
  readonly warnings: readonly string[]
  readonly config = new SessionConfig()
  readonly conversation: Conversation
  readonly services: HostServices | undefined
  readonly #link: SessionLink
  readonly #capabilities: AgentCapabilities
  #phase: Phase
  interrupted = false
  /** Updates of history that were left out. */
  replayed = 0

  constructor(link: SessionLink, sink: AgentSink, { agentSessionId, warnings, phase, services }: SessionStart) {
    this.#link = link
    this.#capabilities = link.capabilities
    this.conversation = new Conversation(sink)
    this.agentSessionId = agentSessionId
    this.warnings = warnings
    this.services = services
    this.#phase = phase
  }

  async send(prompt: readonly ContentBlock[], trace?: TraceContext): Promise<void> {
    const turn = this.conversation.begin()
    this.#phase = 'live'
    const adapted = promptFor(prompt, this.#capabilities)
    if ('refused' in adapted) this.conversation.end(turn, { by: 'failure', error: { message: adapted.refused } })
    // If the agent has ended, so has the turn.
    else if (this.conversation.turn === turn) {
      const meta = trace === undefined ? {} : { _meta: { ...trace } }
      const params = { sessionId: this.agentSessionId, prompt: adapted.blocks, ...meta }
      this.#link.peer.send('session/prompt', params, (response) => {
        const wait = { ms: EMPTY_TURN_MS, clock: this.#link.clock }
        this.conversation.finish(
          turn,
          responseVerdict(response, this.#link.usagePlaces),
          'error' in response ? undefined : wait,
        )
      })
    }
    return turn.done
  }

  async cancel(): Promise<void> {
    if (!this.conversation.turn || this.conversation.turn.cancelling) return
    // Before the answers to what is pending, so that the agent does not act on one of them.
    this.#link.peer.send('session/cancel', { sessionId: this.agentSessionId })
    this.conversation.beginCancel()
  }

  async configure(change: ConfigChange): Promise<void> {
    if (this.conversation.closed) throw this.conversation.closed
    const { method, params, agreed } = this.config.call(this.agentSessionId, change)
    const result = await this.#link.request(method, params)
    this.conversation.addNotice({ type: 'config', config: agreed(result) })
    // The caller finds the change in the session's record.
    await this.conversation.flush()
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

  /** Handles a request that the user answers. */
  ask(id: unknown, method: string, params: Json): void {
    const { peer } = this.#link
    const isQuestion = method === 'elicitation/create'
    const asked = isQuestion ? questionRequest(params) : permissionRequest(params)
    if (!asked || !this.conversation.canAsk) {
      this.conversation.addNotice(extension(method, params))
      return peer.respond(id, cancelledAsk(isQuestion))
    }
    this.conversation.ask(id, asked.ask, {
      reply: (answer) => peer.respond(id, { result: asked.result(answer) }),
      withdrawn: () => peer.respond(id, WITHDRAWN),
    })
  }

  withdraw(id: unknown): void {
    this.conversation.withdraw(id)
    this.services?.withdraw(id)
  }

  /** Handles a request that the host serves itself. Returns false for what is not offered. */
  serve(request: HostRequest): boolean {
    if (this.conversation.closed) return false
    return this.services?.serve(request, (answer) => this.#link.peer.respond(request.id, answer)) ?? false
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

/** The answer to a request that cannot be shown to the user. */
export const cancelledAsk = (isQuestion: boolean): { readonly result: object } => ({
  result: isQuestion ? { action: 'cancel' } : { outcome: { outcome: 'cancelled' } },
})
