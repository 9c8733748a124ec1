import { RequestError } from '@agentclientprotocol/sdk'
import type {
  AgentConnection,
  ClientCapabilities,
  NewSessionRequest,
  PromptRequest,
  PromptResponse,
  SetSessionConfigOptionRequest,
} from '@agentclientprotocol/sdk'
import { AgentprotoError, asRecord, defined, isAgentprotoError, type Session, traceOf } from '@agentproto/contracts'
import type { AcpServerOptions } from './acp-host.js'
import type { ClientLink } from './client-link.js'
import type { ClientStream } from './client-stream.js'
import { EndedSessions } from './ended-sessions.js'
import { mcpServers } from './mcp-servers.js'
import { promptBlocks } from './prompt-blocks.js'
import { ServedSession } from './served-session.js'
import type { Settings } from './config-view.js'

/** The sessions that one client has open. */
export class ServedClient implements ClientLink {
  capabilities: ClientCapabilities = {}
  readonly sessions: AcpServerOptions['sessions']
  readonly ended: EndedSessions
  readonly #options: AcpServerOptions
  readonly #stream: ClientStream
  readonly #open = new Map<string, ServedSession>()
  readonly #gone = new AbortController()
  #connection: AgentConnection | undefined

  constructor(options: AcpServerOptions, stream: ClientStream) {
    this.sessions = options.sessions
    this.ended = new EndedSessions(options)
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
      this.ended.close()
    }
    connection.signal.addEventListener('abort', gone, { once: true })
  }

  update(sessionId: string, update: object): Promise<void> | undefined {
    return this.#stream.send({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } })
  }

  async request(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    const waiting = { cancellationSignal: signal, stopWaitingOnCancel: true }
    return this.#connection?.client.request<unknown, object>(method, params, waiting)
  }

  problem(problem: string): void {
    this.#options.onProblem?.(problem)
  }

  async open(params: NewSessionRequest, requestId: unknown): Promise<{ sessionId: string } & Settings> {
    const meta = asRecord(params['_meta'])
    const { session, attached } = await this.#options.open({
      cwd: params.cwd,
      mcpServers: mcpServers(params.mcpServers),
      additionalDirectories: params.additionalDirectories ?? [],
      meta: meta['agentproto'],
      ...defined({ trace: traceOf(meta) }),
    })
    const served = this.#serve(session)
    const first = (): Promise<void> => (attached ? served.replay() : served.warn(session.warnings))
    this.#beginAfter(requestId, served, async () => first().then(() => served.begin(session)))
    return { sessionId: session.id, ...served.settings }
  }

  /** Opens a new session with the history of another one; both continue. @throws `not_supported`, `turn_in_progress` */
  async fork(sessionId: string, requestId: unknown): Promise<{ sessionId: string } & Settings> {
    const { sessions } = this
    if (sessions.fork === undefined) throw new AgentprotoError('not_supported', 'Sessions cannot be forked here')
    const session = await sessions.fork(sessionId)
    const served = this.#serve(session)
    this.#beginAfter(requestId, served, () => served.begin(session))
    return { sessionId: session.id, ...served.settings }
  }

  /** `session/load` sends the history before its answer; `session/resume` sends none. */
  async reopen(how: 'load' | 'resume', sessionId: string, requestId: unknown): Promise<Settings> {
    const session = await this.sessions.get(sessionId)
    const served = this.#serve(session)
    if (how === 'load') await served.replay()
    this.#beginAfter(requestId, served, () => served.begin(session))
    return served.settings
  }

  /** Closes the session for this client and ends its own turns: other clients may have the session open. */
  async closeSession(sessionId: string): Promise<Record<string, never>> {
    const served = this.#open.get(sessionId)
    this.#open.delete(sessionId)
    for (const turn of served?.close() ?? []) await this.sessions.interrupt(sessionId, { turn })
    return {}
  }

  async remove(sessionId: string): Promise<Record<string, never>> {
    this.#open.get(sessionId)?.close()
    this.#open.delete(sessionId)
    // Deleting a session twice is not an error (ACP session/delete).
    await this.sessions.remove(sessionId).catch((thrown: unknown) => {
      if (!isAgentprotoError(thrown) || thrown.code !== 'session_not_found') throw thrown
    })
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

  async prompt({ sessionId, prompt, _meta: meta }: PromptRequest, signal: AbortSignal): Promise<PromptResponse> {
    const served = this.#get(sessionId)
    // `$/cancel_request` means the same as `session/cancel`; a disconnect cancels nothing (F1).
    const cancelled = (): void => void setImmediate(() => this.cancel(sessionId))
    signal.addEventListener('abort', cancelled, { once: true })
    try {
      return { stopReason: await served.prompt(promptBlocks(prompt), traceOf(asRecord(meta))) }
    } finally {
      signal.removeEventListener('abort', cancelled)
    }
  }

  cancel(sessionId: string): void {
    const served = this.#open.get(sessionId)
    if (served === undefined || this.#gone.signal.aborted) return
    void served.interrupt().catch((error: unknown) => this.#lost(sessionId, error))
  }

  #beginAfter(requestId: unknown, { id }: ServedSession, begin: () => Promise<void>): void {
    this.#stream.afterAnswer(requestId, () => void begin().catch((error: unknown) => this.#lost(id, error)))
  }

  #serve(session: Session): ServedSession {
    this.#open.get(session.id)?.close()
    const served = new ServedSession(this, session)
    this.#open.set(session.id, served)
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
