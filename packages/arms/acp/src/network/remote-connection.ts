import { startCancelled, startFailure, type TurnOutcome, within } from '@agentproto/arm-kit'
import { type AgentInfo, AgentprotoError, type StoredAgentSession } from '@agentproto/contracts'
import type {
  AgentEnd,
  AgentSink,
  ArmConnection,
  ArmConnectOptions,
  ArmSession,
  OpenSessionOptions,
  ProcessExit,
} from '@agentproto/contracts/agent'
import { AcpClient } from '../client.js'
import { Backoff } from './backoff.js'
import { connectFailure, ConnectFailure, errorOf } from './connect-failure.js'
import { Heartbeat } from './heartbeat.js'
import { Intake } from './intake.js'
import { canRejoin } from './rejoin.js'
import type { RemoteEndpoint } from './remote-endpoint.js'
import { RemoteSessions } from './remote-sessions.js'
import { type AgentSocket, openSocket, type SocketEnd, type SocketEvents } from './socket-stream.js'

/**
 * Connects with an agent that runs elsewhere and speaks ACP over a WebSocket. There is no process: what the agent runs is not
 * touched. A lost connection is opened again within `limits.reconnectMs`, and its sessions are loaded again.
 * @throws `handshake_failed`, `auth_required`, `timeout`, `cancelled`, and what the endpoint's guard refuses
 */
export async function connectRemoteAcp(options: ArmConnectOptions, endpoint: RemoteEndpoint): Promise<ArmConnection> {
  if (options.signal.aborted) throw startCancelled()
  return new RemoteConnection(options, endpoint).start()
}

/** A connection that is open. */
interface Line {
  readonly socket: AgentSocket
  readonly heartbeat: Heartbeat
}

/** `away`: there was a connection, and there may be one again. */
type State = 'starting' | 'open' | 'away' | 'over'

class RemoteConnection implements ArmConnection {
  readonly ended: Promise<AgentEnd>
  readonly #options: ArmConnectOptions
  readonly #endpoint: RemoteEndpoint
  readonly #client: AcpClient
  readonly #backoff: Backoff
  readonly #intake: Intake
  readonly #sessions: RemoteSessions
  /** Aborts every connect, and what waits for the next one. */
  readonly #over = new AbortController()
  #state: State = 'starting'
  #line: Line | undefined
  /** Why the connection was lost the last time. */
  #lastLoss = ''
  #comingBack: Promise<void> | undefined
  #closing: Promise<ProcessExit> | undefined
  #resolveEnd: (end: AgentEnd) => void = () => {}

  constructor(options: ArmConnectOptions, endpoint: RemoteEndpoint) {
    const { clock, limits, client, launch, profile } = options
    this.#options = options
    this.#endpoint = endpoint
    this.ended = new Promise((resolve) => (this.#resolveEnd = resolve))
    const send = (message: object): void => this.#line?.socket.send(message)
    this.#client = new AcpClient({ clock, limits, client, launch, profile, send })
    this.#intake = new Intake(this.#client, () => this.#line?.socket)
    this.#sessions = new RemoteSessions(this.#client)
    this.#backoff = new Backoff({ clock, limitMs: limits.reconnectMs })
  }

  get info(): AgentInfo {
    return this.#client.info
  }

  async start(): Promise<ArmConnection> {
    const { signal, limits } = this.#options
    const abort = (): void => {
      this.#over.abort()
      this.#client.close(startCancelled(), { by: 'host' })
    }
    signal.addEventListener('abort', abort, { once: true })
    try {
      await this.#connect(limits.handshakeMs)
      this.#state = 'open'
      return this
    } catch (thrown) {
      await this.close()
      throw signal.aborted ? startCancelled() : startFailure(errorOf(thrown))
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  async openSession(opening: OpenSessionOptions, sink: AgentSink): Promise<ArmSession> {
    const session = await this.#client.openSession(opening, sink)
    // A session that was opened by a connection that is lost would be prompted in vain.
    if (!this.#line) throw lostError(this.#lastLoss)
    const { catchUp } = session
    if (catchUp) this.#sessions.add({ session, catchUp, opening })
    return session
  }

  async listSessions(cwd?: string): Promise<readonly StoredAgentSession[]> {
    return this.#client.listSessions(cwd)
  }

  close(): Promise<ProcessExit> {
    return (this.#closing ??= this.#close())
  }

  /** Opens a WebSocket, and initializes ACP on it. */
  async #connect(limitMs: number): Promise<void> {
    const { clock } = this.#options
    const limit = { ms: limitMs, clock, signal: this.#over.signal }
    const access = await within(this.#endpoint.connect(), 'The endpoint could not be prepared', limit).catch(
      (thrown: unknown) => {
        throw connectFailure(this.#endpoint, thrown)
      },
    )
    let line: Line | undefined
    const events: SocketEvents = {
      onMessage: (message) => this.#intake.take(message),
      onBinary: (bytes) => this.#intake.dropBinary(bytes),
      onAlive: () => line?.heartbeat.alive(),
      onEnd: (end) => this.#lost(line, end),
    }
    const { signal } = this.#over
    const socket = await openSocket({ endpoint: this.#endpoint, access, events, clock, limitMs, signal })
    const heartbeat = new Heartbeat({ clock, socket, onSilent: (why) => socket.terminate(why) })
    line = { socket, heartbeat }
    this.#line = line
    await this.#client.initialize()
  }

  #lost(line: Line | undefined, { why, isViolation }: SocketEnd): void {
    line?.heartbeat.stop()
    if (line === undefined || this.#line !== line) return
    this.#line = undefined
    if (this.#state === 'over') return
    if (isViolation && this.#state !== 'starting')
      return this.#giveUp(`The agent broke its protocol: ${why}`, 'protocol')
    this.#lastLoss = why
    if (this.#state === 'open') this.#comingBack = this.#comeBack(why)
    else this.#client.lost(lostError(why))
  }

  async #comeBack(why: string): Promise<void> {
    this.#state = 'away'
    this.#client.lost(lostError(why))
    this.#sessions.lost()
    this.#sessions.notify('warning', `The connection to the agent was lost (${why}); it is being opened again.`)
    if (this.#sessions.size === 0 || !canRejoin(this.#client.capabilities))
      return this.#giveUp(`${lostError(why).message}. The agent cannot load a session again.`)
    this.#backoff.begin()
    let last = why
    while (await this.#backoff.next(this.#over.signal)) {
      const failure = await this.#tryAgain(why)
      if (this.#isOver()) return
      if (failure === undefined) return
      if (failure.isFinal)
        return this.#giveUp(`${lostError(why).message}. It cannot be opened again: ${failure.message}`)
      last = failure.message
    }
    const seconds = this.#options.limits.reconnectMs / 1_000
    if (!this.#isOver()) this.#giveUp(`${lostError(why).message}. It did not come back within ${seconds} s: ${last}`)
  }

  /** One attempt. @returns why it failed */
  async #tryAgain(why: string): Promise<ConnectFailure | undefined> {
    try {
      await this.#connect(Math.min(this.#options.limits.handshakeMs, this.#backoff.leftMs))
      await this.#sessions.rejoin(why, () => this.#line)
      if (this.#isOver()) return undefined
      // Lost again while nothing waited for an answer by it, such as for the rest of a history.
      if (!this.#line) throw lostError(this.#lastLoss)
      this.#state = 'open'
      this.#backoff.over()
      this.#client.back()
      this.#sessions.notify('info', 'The connection to the agent is back.')
      return undefined
    } catch (thrown) {
      if (this.#isOver()) return undefined
      await this.#hangUp()
      const failure = thrown instanceof ConnectFailure ? thrown : new ConnectFailure(errorOf(thrown), false)
      this.#client.lost(failure.error)
      return failure
    }
  }

  /** The agent has ended for its host. */
  #giveUp(message: string, cause: 'transport' | 'protocol' = 'transport'): void {
    if (this.#isOver()) return
    const error = { message, data: { kind: `${cause}_failure` } }
    const duringTurn = this.#end(new AgentprotoError('agent_exited', message), { by: 'failure', error })
    void this.#hangUp().then(() => this.#resolveEnd({ duringTurn, cause, isElsewhere: true, message, stderrTail: '' }))
  }

  async #close(): Promise<ProcessExit> {
    if (this.#state === 'open') await this.#sessions.sayGoodbye(this.#options.clock)
    this.#end(new AgentprotoError('session_ended', 'The connection was closed'), { by: 'host' })
    await this.#hangUp()
    await this.#comingBack
    // It may have been opened meanwhile.
    await this.#hangUp()
    return {}
  }

  /** Everything ends. Returns whether a turn was left unanswered. */
  #end(reason: AgentprotoError, outcome: TurnOutcome): boolean {
    this.#state = 'over'
    this.#over.abort()
    // While the connection is away, the client does not have them.
    const wasRunning = this.#sessions.end(reason, outcome)
    const others = this.#client.close(reason, outcome)
    this.#client.back()
    return others || wasRunning
  }

  /** Settles when the connection has ended. */
  async #hangUp(): Promise<void> {
    const line = this.#line
    if (!line) return
    line.heartbeat.stop()
    await line.socket.close()
    if (this.#line === line) this.#line = undefined
  }

  /** A method, because the state may have changed while the caller waited. */
  #isOver(): boolean {
    return this.#state === 'over'
  }
}

const lostError = (why: string): AgentprotoError =>
  new AgentprotoError('agent_exited', `The connection to the agent was lost: ${why}`)
