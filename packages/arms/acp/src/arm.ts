import { adoptProcess, adoptShared, connectProcess } from '@agentproto/arm-kit'
import type { ProcessConnection, ProcessWatch } from '@agentproto/arm-kit'
import type {
  AdoptedProcess,
  AdoptedSession,
  AgentSink,
  ArmAdoptOptions,
  ArmConnectOptions,
  ProtocolArm,
} from '@agentproto/contracts/agent'
import { AcpClient } from './client.js'

/** A connection to an ACP agent; its `client` has what ACP offers beyond the contract of arms. */
export type AcpConnection = ProcessConnection<AcpClient>

/** ACP on the stdio of a process (AIP-44, AIP-45 `protocol: acp`). */
export const acpArm: ProtocolArm = {
  protocol: 'acp',
  connect: (options) => connectAcp(options),
  adopt: adoptAcp,
  adoptShared: adoptSharedAcp,
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
