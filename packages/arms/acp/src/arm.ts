import { connectProcess } from '@agentproto/arm-kit'
import type { LineClient } from '@agentproto/arm-kit'
import type {
  AgentEnd,
  AgentInfo,
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
import { createAcpClient } from './client.js'
import type { AuthMethod } from './capabilities.js'
import type { AcpClient } from './client.js'

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
  let client: AcpClient | undefined
  const connection = await connectProcess(options, (write) => {
    client = createAcpClient({ ...options, write })
    return lineClient(client)
  })
  if (!client) throw new TypeError('connectProcess made no client')
  return new Connection(connection, client)
}

const lineClient = (client: AcpClient): LineClient => ({
  start: () => client.initialize(),
  openSession: (options, sink) => client.openSession(options, sink),
  takeLines: (lines) => client.takeLines(lines),
  tell: (notice) => client.tell(notice),
  end: (reason, outcome) => client.end(reason, outcome),
  released: () => client.released(),
})

type Process = ArmConnection & { readonly process: AgentProcessInfo }

class Connection implements AcpConnection {
  readonly info: AgentInfo
  readonly process: AgentProcessInfo
  readonly ended: Promise<AgentEnd>
  readonly #connection: Process
  readonly #client: AcpClient

  constructor(connection: Process, client: AcpClient) {
    this.info = connection.info
    this.process = connection.process
    this.ended = connection.ended
    this.#connection = connection
    this.#client = client
  }

  get authMethods(): readonly AuthMethod[] {
    return this.#client.authMethods
  }

  openSession(options: OpenSessionOptions, sink: AgentSink): Promise<ArmSession> {
    return this.#connection.openSession(options, sink)
  }

  close(): Promise<ProcessExit> {
    return this.#connection.close()
  }

  listSessions(cwd?: string): Promise<readonly StoredAgentSession[]> {
    return this.#client.listSessions(cwd)
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
}
