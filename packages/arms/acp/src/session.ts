import { AgentprotoError, promptText, asRecord, asString } from '@agentproto/contracts'
import type {
  AgentCapabilities,
  AgentNotice,
  AgentSink,
  ArmSession,
  Clock,
  ConfigChange,
  ContentBlock,
  TraceContext,
  Json,
} from '@agentproto/contracts'
import { permissionRequest, questionRequest } from './agent-request.js'
import type { UserRequest } from './agent-request.js'
import { SessionConfig } from './config.js'
import type { HostRequest, HostServices } from './host-services.js'
import { Outbox, PendingAsks, Turn } from '@agentproto/arm-kit'
import type { ToolUpdate, TurnOutcome } from '@agentproto/arm-kit'
import { extension, noticeOf } from './notice.js'
import { WITHDRAWN } from './rpc-answer.js'
import type { RpcAnswer } from './rpc-answer.js'
import { responseVerdict } from './stop-reason.js'
import { promptFor } from './prompt.js'
import { isContentBlock, parseToolUpdate } from './tool-call.js'

/** How long an answered turn without any content waits for it, in milliseconds. */
const EMPTY_PATIENCE_MS = 20

/** The connection as its sessions use it. */
export interface SessionLink {
  readonly clock: Clock
  readonly capabilities: AgentCapabilities
  /** Sends a control request within the arm's limit. */
  request(method: string, params: object): Promise<unknown>
  /** Sends a request without a limit; its answer is given in order with the updates. */
  call(method: string, params: object, answered: (response: Json) => void): void
  notify(method: string, params: object): void
  respond(id: unknown, answer: RpcAnswer): void
  forget(sessionId: string): void
}

export interface SessionStart {
  readonly agentSessionId: string
  readonly warnings: readonly string[]
  /** `loading`: what it says is history; `live`: it is new. */
  readonly phase: 'loading' | 'loaded' | 'live'
  /** What the host does for this session's agent. */
  readonly services?: HostServices | undefined
}

/** One conversation of an ACP agent. */
export class AcpSession implements ArmSession {
  readonly agentSessionId: string
  readonly warnings: readonly string[]
  readonly config = new SessionConfig()
  readonly #link: SessionLink
  readonly #clock: Clock
  readonly #outbox: Outbox
  readonly #asks: PendingAsks
  readonly services: HostServices | undefined
  #turn: Turn | undefined
  /** `loaded`: the agent answered the load, but may still be replaying. */
  #phase: 'loading' | 'loaded' | 'live'
  #ended: AgentprotoError | undefined
  interrupted = false
  /** How many updates of history were left out. */
  replayed = 0

  constructor(link: SessionLink, sink: AgentSink, { agentSessionId, warnings, phase, services }: SessionStart) {
    this.#link = link
    this.#clock = link.clock
    this.#outbox = new Outbox(sink)
    this.#asks = new PendingAsks(sink)
    this.agentSessionId = agentSessionId
    this.warnings = warnings
    this.services = services
    this.#phase = phase
  }

  async send(prompt: readonly ContentBlock[], trace?: TraceContext): Promise<void> {
    if (this.#ended?.code === 'session_ended') throw this.#ended
    if (this.#turn) throw new AgentprotoError('turn_in_progress', 'A turn of this session runs already')
    const turn = new Turn()
    this.#turn = turn
    this.#phase = 'live'
    const taken = promptFor(prompt, this.#link.capabilities)
    // An agent that ended meanwhile ends the turn like one that ends in the middle of it.
    const refused = this.#ended?.message ?? ('refused' in taken ? taken.refused : undefined)
    if (refused !== undefined) this.#end(turn, { by: 'failure', error: { message: refused } })
    else if ('blocks' in taken) this.#prompt(turn, taken.blocks, trace)
    return turn.done
  }

  async cancel(): Promise<void> {
    const turn = this.#turn
    if (!turn || turn.cancelling) return
    turn.cancelling = true
    this.#link.notify('session/cancel', { sessionId: this.agentSessionId })
    // An agent may wait for these answers before it stops.
    this.#asks.cancelAll()
  }

  async configure(change: ConfigChange): Promise<void> {
    if (this.#ended) throw this.#ended
    const { method, params, agreed } = this.config.call(this.agentSessionId, change)
    const result = await this.#link.request(method, params)
    this.#outbox.put({ type: 'config', config: agreed(result) })
    // Whoever asked for it finds it in the record.
    await this.#outbox.drain()
  }

  async close(): Promise<void> {
    if (this.#ended) return
    this.fail(new AgentprotoError('session_ended', 'The session was closed'), { by: 'host' })
    this.#link.forget(this.agentSessionId)
    const closed = this.#link.capabilities.close
      ? this.#link.request('session/close', { sessionId: this.agentSessionId })
      : undefined
    await Promise.all([closed, this.services?.close()])
  }

  /**
   * The connection ended, or the session is closed: a turn that runs ends with the given outcome. Returns whether one
   * was left unanswered: an agent that answers and leaves is none that crashed.
   */
  fail(reason: AgentprotoError, outcome: TurnOutcome): boolean {
    this.#ended ??= reason
    this.#asks.cancelAll()
    void this.services?.close()
    this.#outbox.flush()
    const turn = this.#turn
    this.interrupted = turn !== undefined && turn.answer === undefined
    // What was answered already is so, whatever happens to the connection.
    if (turn) this.#end(turn, turn.answer ?? outcome)
    return this.interrupted
  }

  /** The agent answered a load. */
  loaded(): void {
    if (this.#phase === 'loading') this.#phase = 'loaded'
  }

  /** Takes the `update` of a `session/update`; what it means is emitted with the read that brought it. */
  update(update: Json): void {
    switch (update['sessionUpdate']) {
      case 'agent_message_chunk':
        return this.#said('text-delta', update)
      case 'agent_thought_chunk':
        return this.#said('thought', update)
      case 'tool_call':
      case 'tool_call_update':
        return this.#called(update)
      case 'user_message_chunk':
        return this.#beside(update)
      case 'config_option_update':
        return this.#outbox.put({ type: 'config', config: this.config.optionsChanged(update['configOptions']) })
      default:
        return this.#noticed(noticeOf(update))
    }
  }

  /** Takes a request that the user is to answer. */
  ask(id: unknown, method: string, params: Json): void {
    const turn = this.#turn
    const question = method === 'elicitation/create'
    const asked = turn && !turn.cancelling && !this.#asks.full ? readRequest(turn, question, params) : undefined
    if (!turn || !asked) {
      this.#outbox.put(extension(method, params))
      return this.#link.respond(id, { result: question ? { action: 'cancel' } : { outcome: { outcome: 'cancelled' } } })
    }
    // The permission may be the first that is heard of the call, and what is said before is logged before.
    if (asked.tool) this.#upsert(turn, turn.tools.news(asked.tool))
    this.#outbox.flush()
    const respond = (answer: RpcAnswer): void => this.#link.respond(id, answer)
    this.#asks.add(id, {
      request: asked.request,
      reply: (answer) => respond({ result: asked.reply(answer) }),
      withdrawn: () => respond(WITHDRAWN),
    })
  }

  /** The agent takes a request back. */
  withdraw(id: unknown): void {
    this.#asks.withdraw(id)
    this.services?.withdraw(id)
  }

  /** Takes a request that the host serves itself. Returns false for what is not offered. */
  serve(request: HostRequest): boolean {
    if (this.#ended) return false
    return this.services?.serve(request, (answer) => this.#link.respond(request.id, answer)) ?? false
  }

  /** Puts a notice after what the agent has said. */
  put(notice: AgentNotice): void {
    this.#outbox.put(notice)
  }

  /** Emits what one read of the agent meant; the promise is the host's back-pressure. */
  drain(): Promise<unknown> | undefined {
    return this.#outbox.drain()
  }

  #prompt(turn: Turn, prompt: readonly ContentBlock[], trace: TraceContext | undefined): void {
    const meta = trace === undefined ? {} : { _meta: { ...trace } }
    const params = { sessionId: this.agentSessionId, prompt, ...meta }
    this.#link.call('session/prompt', params, (message) => this.#responded(turn, message))
  }

  #said(type: 'text-delta' | 'thought', update: Json): void {
    const turn = this.#turn
    if (!turn) return this.#beside(update)
    const content = asRecord(update['content'])
    const plain = content['type'] === 'text' ? asString(content['text']) : undefined
    const said = plain ?? (isContentBlock(content) ? promptText([content]) : '')
    if (plain === undefined) this.#outbox.put(extension(String(update['sessionUpdate']), update))
    // An empty chunk carries metadata at most; it is nothing that was said.
    if (said === '') return
    turn.productive = true
    const messageId = asString(update['messageId'])
    this.#outbox.put(messageId === undefined ? { type, text: said } : { type, text: said, messageId })
  }

  #called(update: Json): void {
    const turn = this.#turn
    const call = parseToolUpdate(update)
    if (!turn || !call) return this.#beside(update)
    if (!this.#upsert(turn, call)) this.#outbox.put(extension(String(update['sessionUpdate']), update))
  }

  #upsert(turn: Turn, call: ToolUpdate | undefined): boolean {
    if (!call) return false
    const signals = turn.tools.upsert(call)
    turn.productive = true
    for (const signal of signals) this.#outbox.put(signal)
    return signals.length > 0
  }

  /** Conversation that belongs to no turn: history, or an agent that goes on after its turn's end. */
  #beside(update: Json): void {
    if (this.#phase !== 'live') this.replayed++
    else this.#outbox.put(extension(String(update['sessionUpdate']), update))
  }

  #noticed(notice: AgentNotice): void {
    const state = notice.type === 'config' || notice.type === 'title' || notice.type === 'usage'
    if (this.#phase === 'loading' && !state) this.replayed++
    else this.#outbox.put(notice)
  }

  /**
   * Some agents send the last updates after the answer: what is in the same read or can be read already
   * is still inside the turn. Two immediates have one poll of the pipes between them, and no waiting.
   * A turn that seems to have produced nothing is given a moment, because it hardly ever has.
   */
  #responded(turn: Turn, message: Json): void {
    const answer = { by: 'agent' as const, verdict: responseVerdict(message) }
    turn.answer = answer
    const end = (): void => this.#end(turn, answer)
    const patient = !turn.productive && !turn.cancelling && message['error'] === undefined
    setImmediate(() =>
      setImmediate(() => (patient && !turn.productive ? void this.#clock.after(EMPTY_PATIENCE_MS, end) : end())),
    )
  }

  #end(turn: Turn, outcome: TurnOutcome): void {
    if (this.#turn !== turn) return
    this.#turn = undefined
    this.#asks.cancelAll()
    for (const signal of turn.conclude(outcome)) this.#outbox.put(signal)
    const taken = this.#outbox.drain()
    if (taken) void taken.then(turn.resolve)
    else turn.resolve()
  }
}

const readRequest = (turn: Turn, question: boolean, params: Json): UserRequest | undefined =>
  question ? questionRequest(params) : permissionRequest(params, (tool) => turn.tools.known(tool))
