import { notResumable } from '@agentproto/arm-kit'
import { AgentprotoError, asRecord, asString, type Json, pause } from '@agentproto/contracts'
import type { OpenSessionOptions } from '@agentproto/contracts/agent'
import { AGENT_BOUNDS } from './agent-bounds.js'
import { openParams } from './capabilities.js'
import type { KeptSink } from './kept-sessions.js'
import { remoteParams } from './network/remote-opening.js'
import { TurnCatchUp } from './network/turn-catch-up.js'
import type { Peer } from './peer.js'
import { AcpSession, type SessionLink } from './session.js'
import type { SessionServices } from './session-services.js'

/** How long a loaded session must be silent before its history counts as complete, in milliseconds. */
const REPLAY_QUIET_MS = 50
const REPLAY_ROUNDS = 40

export interface SessionOpeningOptions {
  readonly client: SessionLink & { readonly peer: Peer; readonly isNumbered: boolean }
  readonly services: SessionServices
  /** The agent is reached over the network. */
  readonly isRemote: boolean
  /** Sends a request that opens a session. @throws `handshake_failed`, `not_resumable`, `auth_required`, `timeout` */
  readonly step: (method: string, params: object) => Promise<unknown>
}

/** How sessions of an agent are opened: a new one, a copy of another, or one that there has been before. */
export class SessionOpening {
  readonly #options: SessionOpeningOptions

  constructor(options: SessionOpeningOptions) {
    this.#options = options
  }

  async open(options: OpenSessionOptions, kept: KeptSink): Promise<AcpSession> {
    const { client, services: all } = this.#options
    const { origin } = options
    const { sink, idle } = kept
    if (origin.how === 'fork') return this.fork(origin.agentSessionId, options, kept)
    if (origin.how === 'new') return this.#create(options, kept)
    if (!client.capabilities[origin.how]) throw notResumable(origin)
    const { params, warnings } = this.#paramsOf(options)
    const services = all.create(options, sink)
    const phase = origin.how === 'load' ? 'loading' : 'live'
    const start = { agentSessionId: origin.agentSessionId, warnings, phase, services, idle } as const
    const session = new AcpSession(client, sink, { ...start, catchUp: this.#newCatchUp(false) })
    await this.reopen(session, `session/${origin.how}`, params)
    return session
  }

  async fork(agentSessionId: string, options: OpenSessionOptions, kept: KeptSink): Promise<AcpSession> {
    if (!this.#options.client.capabilities.fork)
      throw new AgentprotoError('not_supported', 'The agent does not fork sessions')
    return this.#create(options, kept, agentSessionId)
  }

  #create(options: OpenSessionOptions, { sink, idle }: KeptSink, forked?: string): Promise<AcpSession> {
    const { client, services: all, step } = this.#options
    const { params, warnings } = this.#paramsOf(options)
    const services = all.create(options, sink)
    const [method, more] = forked === undefined ? ['session/new', {}] : ['session/fork', { sessionId: forked }]
    // An agent may replay the history of a fork, which is already in the log of the original session.
    const phase = forked === undefined ? 'live' : 'loaded'
    return client.peer.opening(async () => {
      const result = asRecord(await step(method, { ...params, ...more }))
      const agentSessionId = asString(result['sessionId'])
      if (agentSessionId === undefined) {
        throw new AgentprotoError('handshake_failed', 'The agent opened a session without an id', { given: result })
      }
      // It is stored, and sent with each message.
      if (agentSessionId.length > AGENT_BOUNDS.sessionIdChars)
        throw new AgentprotoError('handshake_failed', 'The id of the session that the agent opened is too long', {
          expected: `at most ${AGENT_BOUNDS.sessionIdChars} characters`,
          given: agentSessionId.length,
        })
      const start = {
        agentSessionId,
        warnings,
        phase,
        services,
        idle,
        catchUp: this.#newCatchUp(forked === undefined),
      } as const
      const session = new AcpSession(client, sink, start)
      this.#opened(session, result)
      client.peer.add(session)
      return session
    })
  }

  /** Opens a session that there has been before. @throws as `step`, or why the connection was lost */
  async reopen(session: AcpSession, method: string, params: object): Promise<Json> {
    const { client, step } = this.#options
    const { agentSessionId: sessionId } = session
    // Before the answer: the agent replays history before it.
    client.peer.add(session)
    try {
      const result = asRecord(await step(method, { ...params, sessionId }))
      this.#opened(session, result)
      // One that numbers its updates answers after them.
      if (method === 'session/load' && session.catchUp?.after === undefined) await this.#replayed(session)
      return result
    } catch (thrown) {
      client.peer.remove(sessionId)
      await session.services?.close()
      throw thrown
    }
  }

  #paramsOf(options: OpenSessionOptions): ReturnType<typeof openParams> {
    const { capabilities } = this.#options.client
    return this.#options.isRemote ? remoteParams(options, capabilities) : openParams(options, capabilities)
  }

  #newCatchUp(isNew: boolean): TurnCatchUp | undefined {
    const { isRemote, client } = this.#options
    return isRemote ? new TurnCatchUp({ isNumbered: client.isNumbered, isNew }) : undefined
  }

  #opened(session: AcpSession, result: Json): void {
    this.#options.services.opened(session.agentSessionId, session.services)
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
      await pause(this.#options.client.clock, REPLAY_QUIET_MS)
    }
  }
}
