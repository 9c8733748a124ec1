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
  type Clock,
  type Json,
  type StoredAgentSession,
  systemClock,
} from '@agentproto/contracts'
import {
  type AgentSink,
  type ArmConnectOptions,
  type ArmLimits,
  DEFAULT_ARM_LIMITS,
  type OpenSessionOptions,
} from '@agentproto/contracts/agent'
import { ACP_VERSION, clientCapabilities, readHandshake, remoteCapabilities } from './capabilities.js'
import type { AuthMethod, Handshake } from './capabilities.js'
import type { ConfigCall } from './config.js'
import { CurrentPeer } from './current-peer.js'
import { requestFailure, stepFailure } from './failure.js'
import { type Folders, type KeptClient, KeptSessions, type KeptSink } from './kept-sessions.js'
import type { Peer } from './peer.js'
import type { NextIds, SendMessage } from './sdk-link.js'
import { AcpSession, type SessionLink } from './session.js'
import { SessionOpening } from './session-opening.js'
import { SessionServices } from './session-services.js'
import { restoredConfig, type SessionFacts } from './session-facts.js'
import { usagePlaces, type UsagePlaces } from './usage-in-meta.js'
import { listStored } from './stored-sessions.js'

/** `serve` needs `launch`, which says how the agent was launched. */
export interface AcpClientOptions
  extends
    Pick<ArmConnectOptions, 'client'>,
    Partial<Pick<ArmConnectOptions, 'limits' | 'clock' | 'serve' | 'launch' | 'profile'>> {
  /** Writes one line to the agent and adds the newline. */
  readonly write: WriteLine
}

/** Of an agent that is reached over the network: its connection may be lost and come back. */
export interface RemoteClientOptions extends Omit<AcpClientOptions, 'write' | 'serve'> {
  /** Sends one message to the agent, by the connection that there is. */
  readonly send: SendMessage
}

/** The client's end of an ACP 1 connection (AIP-44), over any transport of lines. Call `initialize` first. */
export class AcpClient implements AdoptingClient, SharingClient, KeptClient, SessionLink {
  readonly #options: Omit<AcpClientOptions, 'write'>
  readonly #limits: ArmLimits
  readonly clock: Clock
  readonly usagePlaces: UsagePlaces | undefined
  readonly #services: SessionServices
  readonly #kept = new KeptSessions(this)
  readonly #isRemote: boolean
  readonly #current: CurrentPeer
  readonly #opening: SessionOpening
  #handshake: Handshake | undefined

  constructor(options: AcpClientOptions | RemoteClientOptions) {
    this.#options = options
    this.#isRemote = 'send' in options
    this.#limits = options.limits ?? DEFAULT_ARM_LIMITS
    this.clock = options.clock ?? systemClock
    this.usagePlaces = usagePlaces(asRecord(options.profile)['usage'])
    this.#services = new SessionServices({ ...options, limits: this.#limits, clock: this.clock })
    const send = 'send' in options ? options.send : (message: object) => options.write(JSON.stringify(message))
    this.#current = new CurrentPeer(options.client.name, send, this.clock)
    this.#opening = new SessionOpening({
      client: this,
      services: this.#services,
      isRemote: this.#isRemote,
      step: (method, params) => this.#step(method, params, this.#limits.openMs),
    })
  }

  /** Of the connection that there is. */
  get peer(): Peer {
    return this.#current.peer
  }

  get away(): Promise<void> | undefined {
    return this.#current.away
  }

  get info(): AgentInfo {
    if (!this.#handshake) throw new AgentprotoError('handshake_failed', 'The connection is not initialized')
    return this.#handshake.info
  }

  get capabilities(): AgentCapabilities {
    return this.info.capabilities
  }

  /** The agent numbers its updates. */
  get isNumbered(): boolean {
    return this.#handshake?.isNumbered === true
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
      clientCapabilities: this.#isRemote ? remoteCapabilities() : clientCapabilities(this.#options.serve ?? {}),
    }
    const result = await this.#step('initialize', params, this.#limits.handshakeMs)
    this.#handshake = readHandshake(result)
    return this.#handshake.info
  }

  async openSession(options: OpenSessionOptions, inner: AgentSink): Promise<AcpSession> {
    const kept = this.#kept.sinkOf(inner, options.keep)
    try {
      const session = await this.#opening.open(options, kept)
      this.#kept.opened(session.agentSessionId, options.keep)
      kept.idle?.watch(session)
      return session
    } catch (thrown) {
      this.#kept.failed(options.keep)
      throw thrown
    }
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
    return this.#opening.fork(agentSessionId, options, { sink, idle: undefined })
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

  /** Handles one message; what it means to the host is emitted by {@link flush}. */
  handleMessage(message: Json): void {
    this.peer.handleMessage(message)
  }

  flush(): void | Promise<void> {
    return this.peer.flush()
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
    return this.#services.close()
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
    this.#handshake = { info, authMethods: [], isNumbered: false }
  }

  restore(known: SessionFacts, folders: Folders, { sink, idle }: KeptSink): AcpSession {
    const services = this.#services.create(folders, sink, known.next.served)
    const session = new AcpSession(this, sink, { ...known, services, idle })
    session.config.restore(restoredConfig(known))
    this.#services.opened(session.agentSessionId, services)
    return session
  }

  /** The connection was lost: what waits for it rejects. Sessions stay, and what they send next waits for {@link back}. */
  lost(reason: AgentprotoError): void {
    this.#current.lost(reason)
  }

  /** There is a connection again, or there will be none. */
  back(): void {
    this.#current.back()
  }

  // What sessions need of the connection.

  async change(call: ConfigCall, apply: (result: unknown) => void): Promise<void> {
    try {
      if (this.away) await this.#current.connected(this.#limits.requestMs)
      await this.peer.request(call, { ms: this.#limits.requestMs, clock: this.clock }, apply)
    } catch (thrown) {
      throw requestFailure(thrown, call.method)
    }
  }

  async request(method: string, params: object): Promise<unknown> {
    try {
      if (this.away) await this.#current.connected(this.#limits.requestMs)
      return await this.peer.sdk.request(method, params, this.#limits.requestMs)
    } catch (thrown) {
      throw requestFailure(thrown, method)
    }
  }

  forget(sessionId: string): void {
    this.peer.remove(sessionId)
    this.#kept.closed(sessionId)
    this.#services.closed(sessionId)
  }

  /** Opens a session that there has been before on another connection. @throws as `openSession` */
  reopen(session: AcpSession, method: string, params: object): Promise<Json> {
    return this.#opening.reopen(session, method, params)
  }

  async #step(method: string, params: object, limitMs: number): Promise<unknown> {
    try {
      return await this.peer.sdk.request(method, params, limitMs)
    } catch (thrown) {
      const refused = method === 'session/load' || method === 'session/resume' ? 'not_resumable' : 'handshake_failed'
      // A login in a terminal of this host is not one of an agent that runs elsewhere.
      const launch = this.#isRemote ? undefined : this.#options.launch
      throw stepFailure(thrown, { method, refused, authMethods: this.authMethods, launch })
    }
  }
}
