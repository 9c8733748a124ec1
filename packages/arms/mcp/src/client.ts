import { pathToFileURL } from 'node:url'
import { NO_CAPABILITIES, notResumable, parseLine, startFailure, within } from '@agentproto/arm-kit'
import type { LineClient, TurnOutcome } from '@agentproto/arm-kit'
import {
  type AgentInfo,
  type AgentNotice,
  AgentprotoError,
  asList,
  asRecord,
  asString,
  type Clock,
  defined,
  isAgentprotoError,
  isRecord,
  type Json,
} from '@agentproto/contracts'
import type { AgentSink, ArmConnectOptions, ArmSession, OpenSessionOptions } from '@agentproto/contracts/agent'
import type { Carrier } from './carrier.js'
import type { McpProfile } from './profile.js'
import { SdkLink } from './sdk-link.js'
import { ServerRoutes } from './server-routes.js'
import { McpSession } from './session.js'
import type { RunningCall, SessionLink, ToolCall } from './session.js'
import { findPromptTools } from './tools.js'
import type { PromptTools } from './tools.js'

/** Pages of `tools/list` that are read. */
const MAX_PAGES = 100
/** Ids of dropped calls that are kept. */
const MAX_FORGOTTEN = 256
/** Ids of our own requests; the SDK counts its own from 0. */
const FIRST_ID = 2 ** 30

export interface McpClientOptions extends Pick<ArmConnectOptions, 'client' | 'limits' | 'clock'> {
  readonly profile: McpProfile
  readonly carrier: Carrier
  /** The root that a server gets before there is a session. */
  readonly cwd: string
}

/**
 * The client's end of a connection with an agent that is an MCP server, over whatever carries its messages. What
 * belongs to turns (calls of the prompt tool, notifications, questions) is routed here, in the order in which it came;
 * the SDK gets the rest.
 */
export class McpClient implements LineClient, SessionLink {
  readonly clock: Clock
  readonly profile: McpProfile
  readonly #options: McpClientOptions
  readonly #sdk: SdkLink
  readonly #routes: ServerRoutes
  readonly #calls = new Map<unknown, (response: Json) => void>()
  readonly #forgotten = new Set<unknown>()
  #nextId = FIRST_ID
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

  async initialize(): Promise<AgentInfo> {
    const { limits } = this.#options
    try {
      const server = await this.#sdk.initialize(limits.handshakeMs)
      this.#tools = findPromptTools(await this.#listTools(limits.openMs), this.profile)
      return { ...server, capabilities: { ...NO_CAPABILITIES, resume: this.#isResumable, close: true } }
    } catch (thrown) {
      throw handshakeFailure(this.#ended ?? thrown)
    }
  }

  async openSession(options: OpenSessionOptions, sink: AgentSink): Promise<ArmSession> {
    const { origin } = options
    if (this.#ended) throw handshakeFailure(this.#ended)
    if (origin.how !== 'new' && !this.#isResumable) throw notResumable(origin)
    const session = new McpSession(this, sink, options)
    this.#routes.add(session, [options.cwd, ...options.additionalDirectories])
    return session
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
    const waiting = [...this.#calls.values()]
    this.#calls.clear()
    const wasBusy = this.#routes.end(reason, outcome)
    for (const answered of waiting) answered({ error: { message: reason.message } })
    return wasBusy
  }

  // What sessions need of the connection.

  call({ name, args, trace }: ToolCall, answered: (response: Json) => void): RunningCall {
    const id = this.#nextId++
    const params = { name, arguments: args, _meta: { progressToken: id, ...trace } }
    this.#request(id, { method: 'tools/call', params }, answered)
    const cancel = (reason: string): void => {
      // The answer may still come; its session decides what that means.
      this.#send({ method: 'notifications/cancelled', params: { requestId: id, reason } })
    }
    return { id, cancel, forget: () => this.#forget(id) }
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
        this.#request(this.#nextId++, { method: 'tools/list', params }, resolve),
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

  #request(id: number, message: Json, answered: (response: Json) => void): void {
    this.#calls.set(id, answered)
    const lost = (why: string): void => {
      if (this.#calls.delete(id)) answered({ error: { message: why } })
      void this.#routes.flush()
    }
    const body = { jsonrpc: '2.0', id, ...message }
    const closed = (): void => lost('The server closed the stream without answering')
    this.#options.carrier
      .send(body, closed)
      .catch((thrown: unknown) => lost(thrown instanceof Error ? thrown.message : String(thrown)))
  }

  /** Drops a call whose answer may still come. */
  #forget(id: number): void {
    if (!this.#calls.delete(id)) return
    if (this.#forgotten.size >= MAX_FORGOTTEN) this.#forgotten.clear()
    this.#forgotten.add(id)
  }

  #send(message: Json): void {
    // A message that cannot be sent means that the connection ends, which is reported elsewhere.
    this.#options.carrier.send({ jsonrpc: '2.0', ...message }).catch(() => {})
  }

  /** Older servers send several messages as one array. */
  #takeAll(message: unknown): void {
    for (const each of Array.isArray(message) ? message : [message]) if (isRecord(each)) this.#takeOne(each)
  }

  #takeOne(message: Json): void {
    const { id, method } = message
    if (typeof method !== 'string') return this.#responded(message)
    const params = asRecord(message['params'])
    if (id === undefined || id === null) return this.#routes.notified(method, params)
    if (method === 'elicitation/create') return this.#routes.elicited(id, params)
    if (method === 'roots/list') return this.respond(id, { roots: this.#roots() })
    this.#sdk.take(message)
  }

  #responded(message: Json): void {
    const answered = this.#calls.get(message['id'])
    if (answered) {
      this.#calls.delete(message['id'])
      answered(message)
    } else if (this.#sdk.expects(message['id'])) {
      this.#sdk.take(message)
    } else if (!this.#forgotten.delete(message['id'])) {
      this.#routes.addNotice({ type: 'extension', kind: 'response', payload: message })
    }
  }

  #roots(): readonly Json[] {
    const folders = this.#routes.folders()
    return (folders.length > 0 ? folders : [this.#options.cwd]).map((path) => ({
      uri: pathToFileURL(path).href,
      name: path,
    }))
  }
}

/** An error answer as something that can be thrown. */
const refused = ({ code, message }: Json): Error =>
  Object.assign(new Error(asString(message) ?? 'no message'), { code })

/** Maps a failure of the start to an error code. */
export function handshakeFailure(thrown: unknown): AgentprotoError {
  if (isAgentprotoError(thrown)) return startFailure(thrown)
  const { code, message, name, data } = asRecord(thrown)
  if (name === 'UnauthorizedError' || code === 401 || asRecord(data)['status'] === 401) {
    return new AgentprotoError('auth_required', 'The server wants a login', { cause: thrown })
  }
  const agentCode = typeof code === 'number' ? code : undefined
  if (agentCode === undefined && typeof message !== 'string') return startFailure(thrown)
  const why = `The agent refused the handshake: ${asString(message) ?? String(code)}`
  return new AgentprotoError('handshake_failed', why, {
    cause: thrown,
    ...(agentCode === undefined ? {} : { data: { agentCode } }),
  })
}
