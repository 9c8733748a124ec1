import { RequestError } from '@agentclientprotocol/sdk'
import type {
  AgentConnection,
  ClientCapabilities,
  LoadSessionRequest,
  NewSessionRequest,
  PromptRequest,
  PromptResponse,
  SetSessionConfigOptionRequest,
} from '@agentclientprotocol/sdk'
import { AgentprotoError, asRecord, defined, isAgentprotoError, type Session, traceOf } from '@agentproto/contracts'
import { OWN_CLIENT_BOUNDS, type ServeOptions } from './acp-host.js'
import type { ClientLink, EventNumber } from './client-link.js'
import type { ClientStream } from './client-stream.js'
import type { Settings } from './config-view.js'
import { EndedSessions } from './ended-sessions.js'
import { HostPresence } from './host-presence.js'
import { mcpServers } from './mcp-servers.js'
import { numberOf, openedAt, seenOf, wantsNumbers } from './numbered-events.js'
import { promptBlocks } from './prompt-blocks.js'
import { ServedSession } from './served-session.js'
import { WatchedSessions } from './watched-sessions.js'

/** One request of the client. */
interface Asked {
  readonly requestId: unknown
  readonly signal: AbortSignal
}

/** The sessions that one client has open. */
export class ServedClient implements ClientLink {
  capabilities: ClientCapabilities = {}
  numbered = false
  readonly sessions: ServeOptions['sessions']
  readonly ended: EndedSessions
  readonly hosts: HostPresence
  readonly #options: ServeOptions
  readonly #stream: ClientStream
  readonly #watched: WatchedSessions
  readonly #open = new Map<string, ServedSession>()
  /** Number of sessions that are being opened. */
  #opening = 0
  #isInitialized = false
  readonly #gone = new AbortController()
  #connection: AgentConnection | undefined

  constructor(options: ServeOptions, stream: ClientStream) {
    this.sessions = options.sessions
    this.#watched = new WatchedSessions(options)
    this.ended = new EndedSessions(this.#watched)
    this.hosts = new HostPresence(this.#watched, options.isElsewhere)
    this.#options = options
    this.#stream = stream
  }

  get signal(): AbortSignal {
    return this.#gone.signal
  }

  connected(connection: AgentConnection): void {
    this.#connection = connection
    const gone = (): void => {
      this.#gone.abort()
      for (const served of this.#open.values()) served.close()
      this.#open.clear()
      this.#watched.close()
    }
    connection.signal.addEventListener('abort', gone, { once: true })
  }

  mayAnswer(sessionId: string): boolean {
    return this.#options.mayAnswer?.(sessionId) ?? true
  }

  /** @throws an error if the client is initialized already: its sessions were opened for the capabilities that it had */
  initialized(capabilities: ClientCapabilities): void {
    if (this.#isInitialized) throw RequestError.invalidRequest(undefined, 'The connection is initialized already')
    this.#isInitialized = true
    this.capabilities = capabilities
    this.numbered = wantsNumbers(capabilities)
  }

  update(sessionId: string, update: object, of?: EventNumber): Promise<void> | undefined {
    const numbered = of !== undefined && this.numbered
    return this.notify('session/update', numbered ? { sessionId, update, _meta: numberOf(of) } : { sessionId, update })
  }

  notify(method: string, params: object): Promise<void> | undefined {
    return this.#stream.send({ jsonrpc: '2.0', method, params })
  }

  get sendJson(): ClientLink['sendJson'] {
    return this.#stream.sendJson
  }

  together(sendAll: () => void): void {
    this.#stream.together(sendAll)
  }

  async request(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    if (!this.#stream.hasRoom)
      throw new AgentprotoError('request_limit_reached', 'The client leaves too many requests unanswered')
    const waiting = { cancellationSignal: signal, stopWaitingOnCancel: true }
    return this.#connection?.client.request<unknown, object>(method, params, waiting)
  }

  problem(problem: string): void {
    this.#options.onProblem?.(problem)
  }

  async open(params: NewSessionRequest, requestId: unknown): Promise<{ sessionId: string } & Settings> {
    const meta = asRecord(params['_meta'])
    const { session, attached } = await this.#admit(() =>
      this.#options.open({
        cwd: params.cwd,
        mcpServers: mcpServers(params.mcpServers),
        additionalDirectories: params.additionalDirectories ?? [],
        meta: meta['agentproto'],
        ...defined({ trace: traceOf(meta) }),
      }),
    )
    const served = this.#serve(session)
    const first = (): Promise<void> => (attached ? served.replay(0) : served.warn(session.warnings))
    this.#beginAfter(requestId, served, async () => first().then(() => served.begin(session)))
    return { sessionId: session.id, ...this.#opened(served, session) }
  }

  /** Opens a new session with the history of another one; both continue. @throws `not_supported`, `turn_in_progress` */
  async fork(sessionId: string, requestId: unknown): Promise<{ sessionId: string } & Settings> {
    const fork = this.sessions.fork?.bind(this.sessions)
    if (fork === undefined) throw new AgentprotoError('not_supported', 'Sessions cannot be forked here')
    const session = await this.#admit(() => fork(sessionId))
    const served = this.#serve(session)
    this.#beginAfter(requestId, served, () => served.begin(session))
    return { sessionId: session.id, ...this.#opened(served, session) }
  }

  /** Sends the history before its answer: all of it, or what the client has not seen. */
  async load({ sessionId, _meta: meta }: LoadSessionRequest, requestId: unknown): Promise<Settings> {
    const after = this.numbered ? seenOf(meta) : 0
    return this.#reopen(sessionId, { requestId, before: (served) => served.replay(after) })
  }

  /** Sends no history. */
  resume(sessionId: string, requestId: unknown): Promise<Settings> {
    return this.#reopen(sessionId, { requestId, before: (served) => served.skip() })
  }

  async #reopen(sessionId: string, { requestId, before }: Reopening): Promise<Settings> {
    const session = await this.#admit(() => this.sessions.get(sessionId), sessionId)
    const served = this.#serve(session)
    await before(served)
    this.#beginAfter(requestId, served, () => served.begin(session))
    return this.#opened(served, session)
  }

  /** Closes the session for this client and ends its own turns: other clients may have the session open. */
  async closeSession(sessionId: string): Promise<Record<string, never>> {
    const served = this.#open.get(sessionId)
    this.#open.delete(sessionId)
    for (const turn of served?.close() ?? []) await this.sessions.interrupt(sessionId, { turn })
    return {}
  }

  async remove(sessionId: string): Promise<Record<string, never>> {
    // Deleting a session twice is not an error (ACP session/delete).
    await this.sessions.remove(sessionId).catch((thrown: unknown) => {
      if (!isAgentprotoError(thrown) || thrown.code !== 'session_not_found') throw thrown
    })
    this.#open.get(sessionId)?.close()
    this.#open.delete(sessionId)
    return {}
  }

  async setMode(sessionId: string, modeId: string): Promise<Record<string, never>> {
    await this.#get(sessionId).configure({ mode: modeId })
    return {}
  }

  async setOption({
    sessionId,
    configId,
    value,
  }: SetSessionConfigOptionRequest): Promise<Required<Pick<Settings, 'configOptions'>>> {
    return { configOptions: await this.#get(sessionId).setOption(configId, value) }
  }

  async prompt(
    { sessionId, prompt, _meta: meta }: PromptRequest,
    { requestId, signal }: Asked,
  ): Promise<PromptResponse> {
    const served = this.#get(sessionId)
    // `$/cancel_request` means the same as `session/cancel`; a disconnect cancels nothing (F1).
    const cancelled = (): void => void setImmediate(() => this.cancel(sessionId))
    signal.addEventListener('abort', cancelled, { once: true })
    const answered = new Promise<void>((resolve) => this.#stream.afterAnswer(requestId, resolve))
    try {
      return await served.prompt(promptBlocks(prompt), { answered, trace: traceOf(asRecord(meta)) })
    } finally {
      signal.removeEventListener('abort', cancelled)
    }
  }

  cancel(sessionId: string): void {
    const served = this.#open.get(sessionId)
    if (served === undefined || this.#gone.signal.aborted) return
    void served.interrupt().catch((error: unknown) => {
      // A cancel has no answer: what may be done again must be known to the client.
      if (isAgentprotoError(error) && error.row.retryable) void served.warn([`Not cancelled: ${error.message}`])
      this.#lost(sessionId, error)
    })
  }

  #opened({ settings, last }: ServedSession, session: Session): Settings {
    return this.numbered ? { ...settings, ...openedAt(session, last) } : settings
  }

  #beginAfter(requestId: unknown, { id }: ServedSession, begin: () => Promise<void>): void {
    this.#stream.afterAnswer(requestId, () => void begin().catch((error: unknown) => this.#lost(id, error)))
  }

  /** @param again The session, if it may be open already. @throws `request_limit_reached` */
  async #admit<T>(opened: () => Promise<T>, again?: string): Promise<T> {
    const { openSessions } = this.#options.bounds ?? OWN_CLIENT_BOUNDS
    const isOpen = again !== undefined && this.#open.has(again)
    if (!isOpen && this.#open.size + this.#opening >= openSessions) throw tooManySessions(openSessions)
    this.#opening++
    try {
      return await opened()
    } finally {
      this.#opening--
    }
  }

  #serve(session: Session): ServedSession {
    this.#open.get(session.id)?.close()
    const served = new ServedSession(this, session)
    // The client has left while the session was opened.
    if (this.#gone.signal.aborted) served.close()
    else this.#open.set(session.id, served)
    return served
  }

  /** In ACP, a client may only use sessions that it has opened, loaded or resumed. */
  #get(sessionId: string): ServedSession {
    const served = this.#open.get(sessionId)
    if (served === undefined) throw RequestError.sessionNotFound(sessionId)
    return served
  }

  #lost(sessionId: string, thrown: unknown): void {
    const what = thrown instanceof AgentprotoError ? thrown.message : String(thrown)
    this.problem(`Session ${sessionId}: ${what}`)
  }
}

interface Reopening {
  readonly requestId: unknown
  /** What the client gets before the answer. */
  readonly before: (served: ServedSession) => Promise<void>
}

const tooManySessions = (openSessions: number): AgentprotoError =>
  new AgentprotoError('request_limit_reached', 'The connection has too many sessions open', {
    expected: `at most ${openSessions}`,
    hint: 'Close one with session/close, or open another connection',
  })
