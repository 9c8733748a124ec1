import { notResumable } from '@agentproto/arm-kit'
import type {
  AdoptedState,
  AdoptingClient,
  Inheritance,
  KeptLink,
  SharedInheritance,
  SharedState,
  SharingClient,
  TurnOutcome,
  WriteLine,
} from '@agentproto/arm-kit'
import {
  type AgentCapabilities,
  type AgentInfo,
  type AgentNotice,
  AgentprotoError,
  asRecord,
  asString,
  type Clock,
  type Json,
  pause,
  type StoredAgentSession,
  systemClock,
} from '@agentproto/contracts'
import {
  type AgentSink,
  type ArmConnectOptions,
  type ArmLimits,
  type ArmSession,
  DEFAULT_ARM_LIMITS,
  type OpenSessionOptions,
} from '@agentproto/contracts/agent'
import { ACP_VERSION, clientCapabilities, openParams, readHandshake } from './capabilities.js'
import type { AuthMethod, Handshake } from './capabilities.js'
import type { ConfigCall } from './config.js'
import { requestFailure, stepFailure } from './failure.js'
import { HostServices } from './host-services.js'
import { type Folders, type KeptClient, KeptSessions, type KeptSink } from './kept-sessions.js'
import { Peer } from './peer.js'
import type { NextIds } from './sdk-link.js'
import { AcpSession } from './session.js'
import type { SessionLink } from './session.js'
import { restoredConfig, type SessionFacts } from './session-facts.js'
import { usagePlaces, type UsagePlaces } from './usage-in-meta.js'
import { listStored } from './stored-sessions.js'

/** How long a loaded session must be silent before its history counts as complete, in milliseconds. */
const REPLAY_QUIET_MS = 50
const REPLAY_ROUNDS = 40

/** `serve` needs `launch`, which says how the agent was launched. */
export interface AcpClientOptions
  extends
    Pick<ArmConnectOptions, 'client'>,
    Partial<Pick<ArmConnectOptions, 'limits' | 'clock' | 'serve' | 'launch' | 'profile'>> {
  /** Writes one line to the agent and adds the newline. */
  readonly write: WriteLine
}

/** The client's end of an ACP 1 connection (AIP-44), over any transport of lines. Call `initialize` first. */
export class AcpClient implements AdoptingClient, SharingClient, KeptClient, SessionLink {
  readonly #options: AcpClientOptions
  readonly #limits: ArmLimits
  readonly clock: Clock
  readonly peer: Peer
  readonly usagePlaces: UsagePlaces | undefined
  readonly #services = new Map<string, HostServices>()
  readonly #kept = new KeptSessions(this)
  #handshake: Handshake | undefined

  constructor(options: AcpClientOptions) {
    this.#options = options
    this.#limits = options.limits ?? DEFAULT_ARM_LIMITS
    this.clock = options.clock ?? systemClock
    this.usagePlaces = usagePlaces(asRecord(options.profile)['usage'])
    this.peer = new Peer(options.client.name, options.write, this.clock)
  }

  get info(): AgentInfo {
    if (!this.#handshake) throw new AgentprotoError('handshake_failed', 'The connection is not initialized')
    return this.#handshake.info
  }

  get capabilities(): AgentCapabilities {
    return this.info.capabilities
  }

  get nextIds(): NextIds {
    return { own: this.peer.nextId, sdk: this.peer.sdk.nextId }
  }

  /** The ways to log in that the agent named. */
  get authMethods(): readonly AuthMethod[] {
    return this.#handshake?.authMethods ?? []
  }

  async initialize(): Promise<AgentInfo> {
    const params = {
      protocolVersion: ACP_VERSION,
      clientInfo: this.#options.client,
      clientCapabilities: clientCapabilities(this.#options.serve ?? {}),
    }
    const result = await this.#step('initialize', params, this.#limits.handshakeMs)
    this.#handshake = readHandshake(result)
    return this.#handshake.info
  }

  async openSession(options: OpenSessionOptions, inner: AgentSink): Promise<ArmSession> {
    const kept = this.#kept.sinkOf(inner, options.keep)
    try {
      const session = await this.#open(options, kept)
      this.#kept.opened(session.agentSessionId, options.keep)
      kept.idle?.watch(session)
      return session
    } catch (thrown) {
      this.#kept.failed(options.keep)
      throw thrown
    }
  }

  async #open(options: OpenSessionOptions, kept: KeptSink): Promise<AcpSession> {
    const { origin } = options
    const { sink, idle } = kept
    if (origin.how === 'fork') return this.#fork(origin.agentSessionId, options, kept)
    if (origin.how === 'new') return this.#create(options, kept)
    if (!this.capabilities[origin.how]) throw notResumable(origin)
    const { params, warnings } = openParams(options, this.capabilities)
    const services = this.#servicesFor(options, sink)
    const phase = origin.how === 'load' ? 'loading' : 'live'
    const start = { agentSessionId: origin.agentSessionId, warnings, phase, services, idle } as const
    const session = new AcpSession(this, sink, start)
    return this.#reopen(session, `session/${origin.how}`, params)
  }

  async listSessions(cwd?: string): Promise<readonly StoredAgentSession[]> {
    if (!this.capabilities.list) throw new AgentprotoError('not_supported', 'The agent does not list its sessions')
    return listStored((method, params) => this.request(method, params), cwd)
  }

  /** Deletes a stored session that is not open. @throws `not_supported` */
  async deleteSession(agentSessionId: string): Promise<void> {
    if (!this.capabilities.delete) throw new AgentprotoError('not_supported', 'The agent does not delete sessions')
    await this.request('session/delete', { sessionId: agentSessionId })
  }

  /** Opens a new session with the history of another one. @throws `not_supported`; as `openSession` */
  async forkSession(agentSessionId: string, options: OpenSessionOptions, sink: AgentSink): Promise<AcpSession> {
    return this.#fork(agentSessionId, options, { sink, idle: undefined })
  }

  async #fork(agentSessionId: string, options: OpenSessionOptions, kept: KeptSink): Promise<AcpSession> {
    if (!this.capabilities.fork) throw new AgentprotoError('not_supported', 'The agent does not fork sessions')
    return this.#create(options, kept, agentSessionId)
  }

  /** Logs in by one of the agent's ways that needs no terminal. @throws `not_supported`, `auth_required`, `timeout` */
  async authenticate(methodId: string): Promise<void> {
    const method = this.authMethods.find(({ id }) => id === methodId)
    if (!method || method.terminal) {
      throw new AgentprotoError('not_supported', 'The agent has no such way to log in over its protocol', {
        expected: `one of ${this.authMethods.flatMap(({ id, terminal }) => (terminal ? [] : [id])).join(', ') || 'none'}`,
        given: methodId,
      })
    }
    await this.#step('authenticate', { methodId }, this.#limits.openMs)
  }

  handleLines(lines: readonly string[]): void | Promise<void> {
    for (const line of lines) this.peer.handleLine(line)
    return this.peer.flush()
  }

  notify(notice: AgentNotice): void | Promise<void> {
    if (notice.type === 'output' && notice.stream === 'stderr') this.peer.addErrorOutput(notice.text)
    else this.peer.addNotice(notice)
    return this.peer.flush()
  }

  close(reason: AgentprotoError, outcome: TurnOutcome): boolean {
    return this.peer.close(reason, outcome)
  }

  closeServices(): Promise<unknown> | undefined {
    if (this.#services.size === 0) return undefined
    return Promise.all([...this.#services.values()].map((services) => services.close()))
  }

  keep(link: KeptLink): void {
    this.#kept.keep(link)
  }

  async stored(): Promise<void> {
    await this.#kept.stored()
  }

  adopt(inheritance: Inheritance): AdoptedState {
    const { cwd = '', additionalDirectories = [] } = this.#options.launch ?? {}
    return this.#kept.adopt(inheritance, { cwd, additionalDirectories })
  }

  adoptShared(inheritance: SharedInheritance): SharedState {
    return this.#kept.adoptShared(inheritance)
  }

  handshaken(info: AgentInfo): void {
    this.#handshake = { info, authMethods: [] }
  }

  restore(known: SessionFacts, folders: Folders, { sink, idle }: KeptSink): AcpSession {
    const services = this.#servicesFor(folders, sink, known.next.served)
    const session = new AcpSession(this, sink, { ...known, services, idle })
    session.config.restore(restoredConfig(known))
    if (services) this.#services.set(session.agentSessionId, services)
    return session
  }

  // What sessions need of the connection.

  async change(call: ConfigCall, apply: (result: unknown) => void): Promise<void> {
    try {
      await this.peer.request(call, { ms: this.#limits.requestMs, clock: this.clock }, apply)
    } catch (thrown) {
      throw requestFailure(thrown, call.method)
    }
  }

  async request(method: string, params: object): Promise<unknown> {
    try {
      return await this.peer.sdk.request(method, params, this.#limits.requestMs)
    } catch (thrown) {
      throw requestFailure(thrown, method)
    }
  }

  forget(sessionId: string): void {
    this.peer.remove(sessionId)
    this.#kept.closed(sessionId)
    void this.#services
      .get(sessionId)
      ?.close()
      .then(() => this.#services.delete(sessionId))
  }

  #create(options: OpenSessionOptions, { sink, idle }: KeptSink, forked?: string): Promise<AcpSession> {
    const { params, warnings } = openParams(options, this.capabilities)
    const services = this.#servicesFor(options, sink)
    const [method, more] = forked === undefined ? ['session/new', {}] : ['session/fork', { sessionId: forked }]
    // An agent may replay the history of a fork, which is already in the log of the original session.
    const phase = forked === undefined ? 'live' : 'loaded'
    return this.peer.opening(async () => {
      const result = asRecord(await this.#step(method, { ...params, ...more }, this.#limits.openMs))
      const agentSessionId = asString(result['sessionId'])
      if (agentSessionId === undefined) {
        throw new AgentprotoError('handshake_failed', 'The agent opened a session without an id', { given: result })
      }
      const session = new AcpSession(this, sink, { agentSessionId, warnings, phase, services, idle })
      this.#opened(session, result)
      this.peer.add(session)
      return session
    })
  }

  async #reopen(session: AcpSession, method: string, params: object): Promise<AcpSession> {
    // Before the answer: the agent replays history before it.
    this.peer.add(session)
    try {
      const result = await this.#step(method, { ...params, sessionId: session.agentSessionId }, this.#limits.openMs)
      this.#opened(session, asRecord(result))
      if (method === 'session/load') await this.#replayed(session)
      return session
    } catch (thrown) {
      this.peer.remove(session.agentSessionId)
      await session.services?.close()
      throw thrown
    }
  }

  /** @param asked how many permissions were asked for before */
  #servicesFor(
    { cwd, additionalDirectories }: Pick<OpenSessionOptions, 'cwd' | 'additionalDirectories'>,
    sink: AgentSink,
    asked = 0,
  ): HostServices | undefined {
    const { serve, launch } = this.#options
    if (!launch || !(serve?.fs || serve?.terminal)) return undefined
    const context = { serve, launch, limits: this.#limits, clock: this.clock, sink, asked }
    return new HostServices({ roots: [cwd, ...additionalDirectories], ...context })
  }

  #opened(session: AcpSession, result: Json): void {
    if (session.services) this.#services.set(session.agentSessionId, session.services)
    const config = session.config.opened(result)
    if (config) session.conversation.addNotice({ type: 'config', config })
    void session.conversation.flush()
  }

  /** Some agents answer a load before they have replayed all of the history: waits until they are silent. */
  async #replayed(session: AcpSession): Promise<void> {
    session.loaded()
    let before = -1
    for (let round = 0; round < REPLAY_ROUNDS && session.replayed !== before; round++) {
      before = session.replayed
      await pause(this.clock, REPLAY_QUIET_MS)
    }
  }

  async #step(method: string, params: object, limitMs: number): Promise<unknown> {
    try {
      return await this.peer.sdk.request(method, params, limitMs)
    } catch (thrown) {
      const refused = method === 'session/load' || method === 'session/resume' ? 'not_resumable' : 'handshake_failed'
      throw stepFailure(thrown, { method, refused, authMethods: this.authMethods, launch: this.#options.launch })
    }
  }
}
