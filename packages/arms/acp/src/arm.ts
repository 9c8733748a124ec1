import { AgentprotoError, toAgentprotoError } from '@agentproto/contracts'
import type {
  AgentEnd,
  AgentInfo,
  AgentNotice,
  AgentProcessInfo,
  AgentSink,
  ArmConnection,
  ArmConnectOptions,
  ArmSession,
  OpenSessionOptions,
  ProcessExit,
  ProtocolArm,
  StoredAgentSession,
} from '@agentproto/contracts'
import { spawnAgentProcess } from '@agentproto/subprocess'
import type { AgentProcess } from '@agentproto/subprocess'
import { createAcpClient } from './client.js'
import type { AuthMethod } from './capabilities.js'
import type { AcpClient } from './client.js'

/** How long a broken pipe may precede the exit that explains it, in milliseconds. */
const BROKEN_GRACE_MS = 1_000
/** How much of stderr an error carries, in characters. */
const ERROR_TAIL = 2_048

/** The ACP arm's connection: beside the contract, it does what {@link AcpClient} does with stored sessions and logins. */
export interface AcpConnection extends ArmConnection {
  readonly process: AgentProcessInfo
  /** @throws `not_supported` */
  listSessions(cwd?: string): Promise<readonly StoredAgentSession[]>
  readonly authMethods: readonly AuthMethod[]
  /** @throws `not_supported`, `auth_required`, `timeout` */
  authenticate(methodId: string): Promise<void>
  /** @throws `not_supported` */
  deleteSession(agentSessionId: string): Promise<void>
  /** @throws `not_supported`; as `openSession` */
  forkSession(agentSessionId: string, options: OpenSessionOptions, sink: AgentSink): Promise<ArmSession>
}

/** ACP on the stdio of a process (AIP-44, AIP-45 `protocol: acp`). */
export const acpArm: ProtocolArm = { protocol: 'acp', connect: connectAcp }

/**
 * Spawns an agent and shakes hands with it.
 * @throws `cwd_invalid`, `agent_not_installed`, `spawn_failed`, `handshake_failed`, `auth_required`,
 * `timeout`, `cancelled`; nothing of the agent lives then
 */
export async function connectAcp(options: ArmConnectOptions): Promise<AcpConnection> {
  const { launch, limits, clock, signal } = options
  if (signal.aborted) throw cancelled()
  let connection: Connection | undefined
  // The client comes first: it imports the SDK while the agent boots.
  const client = createAcpClient({ ...options, write: (line) => agent.write(line) })
  const agent = await spawnAgentProcess(launch, {
    clock,
    graces: limits,
    onLines: (lines) => client.takeLines(lines),
    onStderr: (lines) => client.tell({ type: 'output', stream: 'stderr', text: lines.join('\n') }),
    onOversize: (bytes) => void client.tell(oversize(bytes)),
    onBroken: () => connection?.broken(),
  })
  connection = new Connection(agent, client, options)
  return connection.start(signal)
}

class Connection implements AcpConnection {
  readonly ended: Promise<AgentEnd>
  readonly process: AgentProcessInfo
  info: AgentInfo = NOTHING_KNOWN
  readonly #agent: AgentProcess
  readonly #client: AcpClient
  readonly #options: ArmConnectOptions
  #closing = false
  /** We ended it because it could not be talked with any more. */
  #givenUp = false

  constructor(agent: AgentProcess, client: AcpClient, options: ArmConnectOptions) {
    this.#agent = agent
    this.#client = client
    this.#options = options
    this.process = agent.info
    this.ended = new Promise((resolve) => {
      void agent.closed.then((exit) => this.#exited(exit, resolve))
    })
  }

  /** Initializes, or leaves nothing behind. */
  async start(signal: AbortSignal): Promise<this> {
    const abort = (): void => void this.#client.end(cancelled(), { by: 'host' })
    signal.addEventListener('abort', abort, { once: true })
    try {
      if (signal.aborted) abort()
      this.info = await this.#client.initialize()
      return this
    } catch (thrown) {
      await this.close()
      throw toAgentprotoError(thrown, 'handshake_failed')
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  openSession(options: OpenSessionOptions, sink: AgentSink): Promise<ArmSession> {
    return this.#client.openSession(options, sink)
  }

  listSessions(cwd?: string): Promise<readonly StoredAgentSession[]> {
    return this.#client.listSessions(cwd)
  }

  get authMethods(): readonly AuthMethod[] {
    return this.#client.authMethods
  }

  authenticate(methodId: string): Promise<void> {
    return this.#client.authenticate(methodId)
  }

  deleteSession(agentSessionId: string): Promise<void> {
    return this.#client.deleteSession(agentSessionId)
  }

  forkSession(agentSessionId: string, options: OpenSessionOptions, sink: AgentSink): Promise<ArmSession> {
    return this.#client.forkSession(agentSessionId, options, sink)
  }

  close(): Promise<ProcessExit> {
    this.#closing = true
    this.#client.end(new AgentprotoError('session_ended', 'The connection was closed'), { by: 'host' })
    // Beside each other: the agent may wait for its commands, and they for nothing.
    const released = this.#client.released()
    const exit = this.#agent.terminate()
    return released ? Promise.all([exit, released]).then(() => exit) : exit
  }

  /** A pipe broke. An exit usually follows; a process that lives on without it is ended. */
  broken(): void {
    this.#options.clock.after(BROKEN_GRACE_MS, () => {
      if (this.#closing || this.#givenUp) return
      this.#givenUp = true
      void this.#agent.terminate().catch(() => {})
    })
  }

  async #exited(exit: ProcessExit, ended: (end: AgentEnd) => void): Promise<void> {
    if (this.#closing) return
    const stderrTail = this.#agent.stderrTail()
    const message = this.#givenUp ? 'The agent closed its pipes without ending' : exitMessage(exit, stderrTail)
    const data = { ...exit, stderrTail: stderrTail.slice(-ERROR_TAIL) }
    const error = { message, ...(stderrTail === '' ? {} : { stderrTail }) }
    const reason = new AgentprotoError('agent_exited', message, { data })
    const duringTurn = this.#client.end(reason, { by: 'failure', error })
    // "Ended" is said of the whole tree: what it left behind goes first.
    await Promise.all([this.#agent.terminate().catch(() => {}), this.#client.released()])
    if (!this.#closing) ended({ ...exit, duringTurn, cause: this.#givenUp ? 'transport' : 'exit', message, stderrTail })
  }
}

const NOTHING_KNOWN: AgentInfo = {
  capabilities: {
    load: false,
    resume: false,
    list: false,
    close: false,
    fork: false,
    image: false,
    audio: false,
    embeddedContext: false,
    mcpHttp: false,
    mcpSse: false,
    additionalDirectories: false,
  },
}

const cancelled = (): AgentprotoError => new AgentprotoError('cancelled', 'The start of the agent was cancelled')

const oversize = (bytes: number): AgentNotice => ({
  type: 'notice',
  severity: 'error',
  text: `A message of the agent was dropped: it had ${bytes} bytes in one line.`,
})

function exitMessage({ exitCode, signal }: ProcessExit, stderrTail: string): string {
  const how = signal === undefined ? `ended with exit code ${exitCode ?? 'unknown'}` : `was ended by ${signal}`
  const last = stderrTail.trimEnd().split('\n').at(-1)?.slice(0, 300)
  return last ? `The agent ${how}; its last words: ${last}` : `The agent ${how}`
}
