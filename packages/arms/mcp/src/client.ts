import { pathToFileURL } from 'node:url'
import {
  EarlierHost,
  IdlePoint,
  isRequestId,
  NO_CAPABILITIES,
  notResumable,
  parseLine,
  takeOrDrop,
  within,
} from '@agentproto/arm-kit'
import type { AdoptedState, AdoptingClient, Inheritance, KeptLink, TurnOutcome } from '@agentproto/arm-kit'
import {
  type AgentInfo,
  type AgentNotice,
  AgentprotoError,
  asList,
  asRecord,
  asString,
  type Clock,
  defined,
  isRecord,
  type Json,
} from '@agentproto/contracts'
import type {
  AgentSink,
  ArmConnectOptions,
  ArmSession,
  OpenSessionOptions,
  RunningTurn,
} from '@agentproto/contracts/agent'
import { Calls } from './calls.js'
import type { Carrier } from './carrier.js'
import { handshakeFailure, refused } from './handshake-failure.js'
import type { McpProfile } from './profile.js'
import { SdkLink } from './sdk-link.js'
import type { ServerInfo } from './sdk-link.js'
import { ServerRoutes } from './server-routes.js'
import { McpSession, unmountable } from './session.js'
import type { ConnectionFacts, RunningCall, SessionLink, ToolCall } from './session.js'
import { readSessionFacts, toolsOf } from './session-facts.js'
import { findPromptTools } from './tools.js'
import type { PromptTools } from './tools.js'

/** Pages of `tools/list` that are read. */
const MAX_PAGES = 100
const TURN_METHODS = { prompt: 'tools/call', cancel: 'notifications/cancelled' }
/** The JSON-RPC error of a method that is unknown. */
const UNKNOWN_METHOD = { code: -32601, message: 'Method not found' }

export interface McpClientOptions extends Pick<ArmConnectOptions, 'client' | 'limits' | 'clock'> {
  readonly profile: McpProfile
  readonly carrier: Carrier
  /** The root that a server gets before there is a session. */
  readonly cwd: string
}

/**
 * The client's end of a connection with an agent that is an MCP server, over whatever carries its messages. What
 * belongs to turns (calls of the prompt tool, notifications, questions) is routed here, in the order in which it came;
 * the SDK gets the handshake.
 */
export class McpClient implements AdoptingClient, SessionLink {
  readonly clock: Clock
  readonly profile: McpProfile
  readonly #options: McpClientOptions
  readonly #sdk: SdkLink
  readonly #routes: ServerRoutes
  readonly #calls = new Calls()
  #kept: KeptLink | undefined
  #idle: IdlePoint | undefined
  /** What it wrote since the idle point; undefined when all that was kept has been read. */
  #earlier: EarlierHost | undefined
  #server: ServerInfo = {}
  #tools: PromptTools | undefined
  #ended: AgentprotoError | undefined

  constructor(options: McpClientOptions) {
    const { clock, profile } = options
    this.#options = options
    this.clock = clock
    this.profile = profile
    this.#routes = new ServerRoutes(profile, (id, result) => this.respond(id, result))
    this.#sdk = new SdkLink(options)
  }

  get tools(): PromptTools {
    if (!this.#tools) throw new AgentprotoError('handshake_failed', 'The connection is not initialized')
    return this.#tools
  }

  get #isResumable(): boolean {
    return this.profile.resumable && this.tools.reply?.session !== undefined
  }

  get #info(): AgentInfo {
    return { ...this.#server, capabilities: { ...NO_CAPABILITIES, resume: this.#isResumable, close: true } }
  }

  async initialize(): Promise<AgentInfo> {
    const { limits } = this.#options
    try {
      this.#server = await this.#sdk.initialize(limits.handshakeMs)
      this.#tools = findPromptTools(await this.#listTools(limits.openMs), this.profile)
      return this.#info
    } catch (thrown) {
      throw handshakeFailure(this.#ended ?? thrown)
    }
  }

  async openSession(options: OpenSessionOptions, inner: AgentSink): Promise<ArmSession> {
    const { cwd, additionalDirectories, origin } = options
    if (this.#ended) throw handshakeFailure(this.#ended)
    if (origin.how !== 'new' && !this.#isResumable) throw notResumable(origin)
    const { sink, idle } = this.#sinkOf(inner)
    const id = origin.how === 'new' ? undefined : origin.agentSessionId
    const session = new McpSession(this, sink, {
      folders: [cwd, ...additionalDirectories],
      warnings: unmountable(options),
      conversation: { id, isBegun: false },
      idle,
    })
    this.#routes.add(session)
    idle?.watch(session)
    return session
  }

  keep(link: KeptLink): void {
    this.#kept = link
  }

  async stored(): Promise<void> {
    await this.#idle?.stored()
  }

  /** Goes on with the session of an earlier host, from the idle point that its facts are of. @throws `not_adoptable` */
  adopt({ facts, written, sink: inner, link }: Inheritance): AdoptedState {
    const known = readSessionFacts(facts)
    const earlier = new EarlierHost(written, TURN_METHODS)
    this.keep(link)
    this.#earlier = earlier
    this.#server = defined(known.server)
    this.#tools = toolsOf(known)
    this.#calls.resume(known.calls, earlier)
    const { sink, idle } = this.#sinkOf(inner)
    const session = new McpSession(this, sink, { ...known, idle })
    this.#routes.add(session)
    return {
      info: this.#info,
      session,
      resume: () => this.#resume(session, earlier, link),
      settled: () => session.settled(),
    }
  }

  #resume(session: McpSession, { prompt, isCancelled }: EarlierHost, { process }: KeptLink): RunningTurn | undefined {
    const turn = prompt && session.resumeTurn(prompt.id, isCancelled)
    void process.caughtUp.then(() => {
      this.#earlier = undefined
      if (turn && isCancelled) session.endCancelled(turn)
      this.#idle?.watch(session)
    })
    return turn && { done: turn.done, cancelling: isCancelled }
  }

  /** The sink of a session; of a kept agent, which has only one, it knows when the session is idle. */
  #sinkOf(sink: AgentSink): { readonly sink: AgentSink; readonly idle: IdlePoint | undefined } {
    if (!this.#kept) return { sink, idle: undefined }
    this.#idle = new IdlePoint(sink, this.#kept)
    return { sink: this.#idle, idle: this.#idle }
  }

  handleLines(lines: readonly string[]): void | Promise<void> {
    for (const line of lines) {
      const message = parseLine(line)
      if (message !== undefined) this.#takeAll(message)
      else if (line.trim() !== '') this.#routes.addNotice({ type: 'output', stream: 'stdout', text: line })
    }
    return this.#routes.flush()
  }

  /** Handles one message; the promise is the host's back-pressure. */
  take(message: unknown): void | Promise<void> {
    this.#takeAll(message)
    return this.#routes.flush()
  }

  notify(notice: AgentNotice): void | Promise<void> {
    this.#routes.addNotice(notice)
    return this.#routes.flush()
  }

  close(reason: AgentprotoError, outcome: TurnOutcome): boolean {
    this.#ended ??= reason
    this.#sdk.close(reason)
    const wasBusy = this.#routes.end(reason, outcome)
    this.#calls.failAll(reason.message)
    return wasBusy
  }

  // What sessions need of the connection.

  call({ name, args, trace }: ToolCall, answered: (response: Json) => void): RunningCall {
    const id = this.#calls.add(answered)
    const params = { name, arguments: args, _meta: { progressToken: id, ...trace } }
    this.#request(id, { method: TURN_METHODS.prompt, params })
    return this.#running(id)
  }

  expect(id: number, answered: (response: Json) => void): RunningCall {
    this.#calls.expect(id, answered)
    return this.#running(id)
  }

  facts(): ConnectionFacts {
    return { server: this.#server, tools: this.tools, calls: this.#calls.facts() }
  }

  respond(id: unknown, result: Json): void {
    this.#send({ id, result })
  }

  forget(session: McpSession): void {
    this.#routes.remove(session)
  }

  async #listTools(limitMs: number): Promise<readonly unknown[]> {
    const tools: unknown[] = []
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES; page++) {
      const params = defined({ cursor })
      const answer = new Promise<Json>((resolve) =>
        this.#request(this.#calls.add(resolve), { method: 'tools/list', params }),
      )
      const response = await within(answer, 'The agent did not answer tools/list', { ms: limitMs, clock: this.clock })
      if (isRecord(response['error'])) throw refused(response['error'])
      const result = asRecord(response['result'])
      tools.push(...asList(result['tools']))
      cursor = asString(result['nextCursor'])
      if (cursor === undefined) break
    }
    return tools
  }

  #running(id: number): RunningCall {
    const cancel = (reason: string): void => {
      // The answer may still come; its session decides what that means.
      this.#send({ method: TURN_METHODS.cancel, params: { requestId: id, reason } })
    }
    return { id, cancel, forget: () => this.#calls.forget(id) }
  }

  #request(id: number, message: Json): void {
    const lost = (why: string): void => {
      this.#calls.fail(id, why)
      void this.#routes.flush()
    }
    const body = { jsonrpc: '2.0', id, ...message }
    const closed = (): void => lost('The server closed the stream without answering')
    this.#options.carrier
      .send(body, closed)
      .catch((thrown: unknown) => lost(thrown instanceof Error ? thrown.message : String(thrown)))
  }

  #send(message: Json): void {
    // A message that cannot be sent means that the connection ends, which is reported elsewhere.
    this.#options.carrier.send({ jsonrpc: '2.0', ...message }).catch(() => {})
  }

  /** Older servers send several messages as one array. */
  #takeAll(message: unknown): void {
    for (const each of Array.isArray(message) ? message : [message]) {
      const drop = isRecord(each) ? takeOrDrop(() => this.#takeOne(each)) : undefined
      if (drop) this.#routes.addNotice(drop)
    }
  }

  #takeOne(message: Json): void {
    const { id, method } = message
    if (typeof method !== 'string') return this.#responded(message)
    const params = asRecord(message['params'])
    if (id === undefined || id === null) return this.#routes.notified(method, params)
    // It is written into the answer, perhaps much later.
    if (!isRequestId(id)) throw new Error('its id is neither a text nor a number')
    const answer = this.#earlier?.takeAnswer(id)
    if (method === 'elicitation/create') this.#elicited({ id, params, answer })
    else if (!answer) this.#serve(id, method)
  }

  #elicited({ id, params, answer }: { id: unknown; params: Json; answer: Json | undefined }): void {
    if (answer) this.#routes.answered(params, answer)
    else this.#routes.elicited(id, params, this.#earlier !== undefined)
  }

  /** At once, so that no idle point is between a request and its answer. */
  #serve(id: unknown, method: string): void {
    if (method === 'ping') this.respond(id, {})
    else if (method === 'roots/list') this.respond(id, { roots: this.#roots() })
    else this.#send({ id, error: UNKNOWN_METHOD })
  }

  #responded(message: Json): void {
    if (this.#calls.answer(message)) return
    if (this.#sdk.expects(message['id'])) this.#sdk.take(message)
    else this.#routes.addNotice({ type: 'extension', kind: 'response', payload: message })
  }

  #roots(): readonly Json[] {
    const folders = this.#routes.folders()
    return (folders.length > 0 ? folders : [this.#options.cwd]).map((path) => ({
      uri: pathToFileURL(path).href,
      name: path,
    }))
  }
}
