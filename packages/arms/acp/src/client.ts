import { AgentprotoError, DEFAULT_ARM_LIMITS, systemClock } from '@agentproto/contracts'
import type {
  AgentCapabilities,
  AgentInfo,
  AgentNotice,
  AgentSink,
  ArmLimits,
  ArmSession,
  Clock,
  OpenSessionOptions,
} from '@agentproto/contracts'
import { ACP_VERSION, CLIENT_CAPABILITIES, grounds, readHandshake } from './capabilities.js'
import type { Handshake } from './capabilities.js'
import { requestFailure, startFailure } from './failure.js'
import { defined, list, record, text } from './json.js'
import type { Json } from './json.js'
import { Peer } from './peer.js'
import type { RpcAnswer } from './pending-asks.js'
import { AcpSession } from './session.js'
import type { SessionLink } from './session.js'
import { SessionRoutes } from './session-routes.js'
import type { TurnOutcome } from './turn.js'

/** How long a loaded session must say nothing before its history counts as complete, in milliseconds. */
const REPLAY_QUIET_MS = 50
const REPLAY_ROUNDS = 40
/** Pages of `session/list` that are read. */
const MAX_PAGES = 100

export interface AcpClientOptions {
  /** Writes one line to the agent; the newline is added by it. */
  readonly write: (line: string) => void | Promise<void>
  readonly client: { readonly name: string; readonly version: string }
  readonly limits?: Pick<ArmLimits, 'handshakeMs' | 'openMs' | 'requestMs'>
  readonly clock?: Clock
}

/** A session that the agent has stored. */
export interface StoredAcpSession {
  readonly agentSessionId: string
  readonly cwd?: string
  readonly title?: string
  readonly updatedAt?: string
}

/** The client's end of an ACP connection, over whatever carries its lines. */
export interface AcpClient {
  /** @throws `handshake_failed`, `auth_required`, `timeout` */
  initialize(): Promise<AgentInfo>
  /** @throws `handshake_failed`, `auth_required`, `not_resumable`, `timeout` */
  openSession(options: OpenSessionOptions, sink: AgentSink): Promise<ArmSession>
  /** @throws `not_supported` when the agent does not list its sessions */
  listSessions(cwd?: string): Promise<readonly StoredAcpSession[]>
  /** Takes the lines of one read. The promise is the hosts' back-pressure: read nothing until it settles. */
  takeLines(lines: readonly string[]): void | Promise<void>
  /** Tells every session of something that happened beside the protocol. */
  tell(notice: AgentNotice): void | Promise<void>
  /**
   * The connection ended: pending requests reject with `reason`, open turns end with `outcome`.
   * @returns whether a turn was running
   */
  end(reason: AgentprotoError, outcome: TurnOutcome): boolean
}

/** Speaks ACP 1 as a client (AIP-44). Give it every line that the agent writes, and call `initialize` first. */
export function createAcpClient(options: AcpClientOptions): AcpClient {
  return new Client(options)
}

class Client implements AcpClient, SessionLink {
  readonly #options: AcpClientOptions
  readonly #limits: Pick<ArmLimits, 'handshakeMs' | 'openMs' | 'requestMs'>
  readonly clock: Clock
  readonly #peer: Peer
  readonly #routes: SessionRoutes
  #handshake: Handshake | undefined

  constructor(options: AcpClientOptions) {
    this.#options = options
    this.#limits = options.limits ?? DEFAULT_ARM_LIMITS
    this.clock = options.clock ?? systemClock
    this.#routes = new SessionRoutes((id, answer) => this.#peer.respond(id, answer))
    this.#peer = new Peer({ name: options.client.name, clock: this.clock, write: options.write, events: this.#routes })
  }

  get capabilities(): AgentCapabilities {
    return this.#shaken().info.capabilities
  }

  async initialize(): Promise<AgentInfo> {
    const params = {
      protocolVersion: ACP_VERSION,
      clientInfo: this.#options.client,
      clientCapabilities: CLIENT_CAPABILITIES,
    }
    const result = await this.#step('initialize', params, this.#limits.handshakeMs)
    this.#handshake = readHandshake(result)
    return this.#handshake.info
  }

  async openSession(options: OpenSessionOptions, sink: AgentSink): Promise<ArmSession> {
    const { origin } = options
    const { params, warnings } = grounds(options, this.capabilities)
    if (origin.how === 'new') return this.#create(params, warnings, sink)
    if (!this.capabilities[origin.how]) {
      throw new AgentprotoError('not_resumable', `The agent cannot ${origin.how} a session`, { given: origin.agentSessionId })
    }
    const phase = origin.how === 'load' ? 'loading' : 'live'
    const session = new AcpSession(this, sink, { agentSessionId: origin.agentSessionId, warnings, phase })
    return this.#reopen(session, `session/${origin.how}`, params)
  }

  async listSessions(cwd?: string): Promise<readonly StoredAcpSession[]> {
    if (!this.capabilities.list) throw new AgentprotoError('not_supported', 'The agent does not list its sessions')
    const sessions: StoredAcpSession[] = []
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES; page++) {
      const result = record(await this.request('session/list', defined({ cwd, cursor })))
      sessions.push(...list(result['sessions']).flatMap(storedOf))
      cursor = text(result['nextCursor'])
      if (cursor === undefined) break
    }
    return sessions
  }

  takeLines(lines: readonly string[]): void | Promise<void> {
    this.#peer.takeLines(lines)
    return this.#routes.drain()
  }

  tell(notice: AgentNotice): void | Promise<void> {
    this.#routes.put(notice)
    return this.#routes.drain()
  }

  end(reason: AgentprotoError, outcome: TurnOutcome): boolean {
    this.#peer.close(reason)
    return this.#routes.end(reason, outcome)
  }

  // What sessions need of the connection.

  async request(method: string, params: object): Promise<unknown> {
    try {
      return await this.#peer.request(method, params, this.#limits.requestMs)
    } catch (thrown) {
      throw requestFailure(thrown, method)
    }
  }

  call(method: string, params: object, answered: (response: Json) => void): void {
    this.#peer.call(method, params, answered)
  }

  notify(method: string, params: object): void {
    this.#peer.notify(method, params)
  }

  respond(id: unknown, answer: RpcAnswer): void {
    this.#peer.respond(id, answer)
  }

  forget(sessionId: string): void {
    this.#routes.remove(sessionId)
  }

  #shaken(): Handshake {
    if (!this.#handshake) throw new AgentprotoError('handshake_failed', 'The connection is not initialized')
    return this.#handshake
  }

  #create(params: object, warnings: readonly string[], sink: AgentSink): Promise<AcpSession> {
    return this.#routes.opening(async () => {
      const result = record(await this.#step('session/new', params, this.#limits.openMs))
      const agentSessionId = text(result['sessionId'])
      if (agentSessionId === undefined) {
        throw new AgentprotoError('handshake_failed', 'The agent opened a session without an id', { given: result })
      }
      const session = new AcpSession(this, sink, { agentSessionId, warnings, phase: 'live' })
      this.#opened(session, result)
      this.#routes.add(session)
      return session
    })
  }

  async #reopen(session: AcpSession, method: string, params: object): Promise<AcpSession> {
    // Before the answer: history is told before it.
    this.#routes.add(session)
    try {
      const result = await this.#step(method, { ...params, sessionId: session.agentSessionId }, this.#limits.openMs)
      this.#opened(session, record(result))
      if (method === 'session/load') await this.#replayed(session)
      return session
    } catch (thrown) {
      this.#routes.remove(session.agentSessionId)
      throw thrown
    }
  }

  #opened(session: AcpSession, result: Json): void {
    const config = session.config.opened(result)
    if (config) session.put({ type: 'config', config })
    void session.drain()
  }

  /** Some agents answer a load before they have replayed all of it: waits until they are silent. */
  async #replayed(session: AcpSession): Promise<void> {
    session.loaded()
    let before = -1
    for (let round = 0; round < REPLAY_ROUNDS && session.replayed !== before; round++) {
      before = session.replayed
      await new Promise<void>((resolve) => this.clock.after(REPLAY_QUIET_MS, resolve))
    }
  }

  async #step(method: string, params: object, limitMs: number): Promise<unknown> {
    try {
      return await this.#peer.request(method, params, limitMs)
    } catch (thrown) {
      const refused = method === 'session/load' || method === 'session/resume' ? 'not_resumable' : 'handshake_failed'
      throw startFailure(thrown, { method, refused, authMethods: this.#handshake?.authMethods ?? [] })
    }
  }
}

function storedOf(entry: unknown): StoredAcpSession[] {
  const { sessionId, cwd, title, updatedAt } = record(entry)
  if (typeof sessionId !== 'string') return []
  return [{ agentSessionId: sessionId, ...defined({ cwd: text(cwd), title: text(title), updatedAt: text(updatedAt) }) }]
}
