import { adoptProcess, adoptShared, connectProcess } from '@agentproto/arm-kit'
import type { ProcessConnection, ProcessWatch } from '@agentproto/arm-kit'
import type {
  AdoptedProcess,
  AdoptedSession,
  AgentSink,
  ArmAdoptOptions,
  ArmConnection,
  ArmConnectOptions,
  ProtocolArm,
} from '@agentproto/contracts/agent'
import { AcpClient } from './client.js'
import { connectRemoteAcp } from './network/remote-connection.js'
import { endpointOf } from './network/remote-endpoint.js'

/** A connection to an ACP agent; its `client` has what ACP offers beyond the contract of arms. */
export type AcpConnection = ProcessConnection<AcpClient>

/** ACP on the stdio of a process, or over a WebSocket to an agent that runs elsewhere (AIP-44, AIP-45 `protocol: acp`). */
export const acpArm: ProtocolArm = {
  protocol: 'acp',
  connect: (options) => connectByProfile(options),
  adopt: adoptAcp,
  adoptShared: adoptSharedAcp,
}

/** An agent with an endpoint is reached over the network; any other is a process. */
async function connectByProfile(options: ArmConnectOptions): Promise<ArmConnection> {
  const endpoint = endpointOf(options.profile)
  return endpoint ? connectRemoteAcp(options, endpoint) : connectAcp(options)
}

/**
 * Spawns an agent and initializes ACP with it.
 * @param watch sees what the process does
 * @throws `cwd_invalid`, `agent_not_installed`, `spawn_failed`, `handshake_failed`, `auth_required`,
 * `timeout`, `cancelled`; nothing of the agent runs then
 */
export function connectAcp(options: ArmConnectOptions, watch?: ProcessWatch): Promise<AcpConnection> {
  return connectProcess(options, (write) => new AcpClient({ ...options, write }), watch)
}

/**
 * Goes on with an agent and its session that an earlier host has started.
 * @throws `not_adoptable`; the agent is left as it is
 */
export function adoptAcp(
  options: ArmAdoptOptions,
  sink: AgentSink,
): Promise<{ connection: AcpConnection; session: AdoptedSession }> {
  return adoptProcess(options, sink, (write) => new AcpClient({ ...options, write }))
}

/**
 * Goes on with an agent and the sessions that share it, which an earlier host has started.
 * @throws `not_adoptable`; the agent is left as it is
 */
export function adoptSharedAcp(options: ArmAdoptOptions): Promise<AdoptedProcess> {
  return adoptShared(options, (write) => new AcpClient({ ...options, write }))
}
