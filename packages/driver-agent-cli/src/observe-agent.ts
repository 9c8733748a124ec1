import { AgentprotoError } from '@agentproto/contracts'
import type { AgentObservation, ArmLimits } from '@agentproto/contracts/agent'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import type { AgentHost } from './agent-host.js'

export interface ObserveAgent {
  /** Its agent is installed, or on PATH. */
  readonly adapter: LoadedAgentCli
  /** Whose installed agent it is. */
  readonly host: AgentHost
  readonly limits?: Partial<ArmLimits>
  readonly signal: AbortSignal
}

/**
 * Starts an ACP agent as a session would, but in an empty folder, with an empty home and without the user's keys; asks what
 * it offers, opens a session, and ends it with everything that it started. It is sent no prompt, and nothing of it stays.
 * @throws `agent_not_installed`, `sandbox_unavailable`, `protocol_unsupported`, `spawn_failed`, `handshake_failed`, `timeout`,
 * `cancelled`
 */
export async function observeAgent({ adapter }: ObserveAgent): Promise<AgentObservation> {
  throw new AgentprotoError('internal', `${adapter.manifest.id} is not observed yet`)
}
