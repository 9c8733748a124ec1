import { type AgentInfo, isAgentprotoError, randomId, systemClock } from '@agentproto/contracts'
import { DEFAULT_ARM_LIMITS } from '@agentproto/contracts/agent'
import type { AgentEndpoint } from '@agentproto/manifest'
import type { AgentHost } from '../agent-host.js'
import { DEFAULT_CLIENT } from '../launch/launch-agent.js'
import { redactedError } from '../launch/redacted-error.js'
import { remoteEndpoint } from './remote-endpoint.js'

/** What an agent that runs elsewhere said when it was connected to. */
export interface ReachedEndpoint {
  readonly info: AgentInfo
  /** Milliseconds from the look-up of its name to the answer to `initialize`. */
  readonly handshakeMs: number
}

/**
 * Connects with an agent that runs elsewhere, shakes hands, and closes the connection: no session is opened. What the agent says has
 * no secret of the host.
 * @throws `endpoint_not_allowed`, `secret_not_found`, `auth_required`, `handshake_failed`, `timeout`, `cancelled`
 */
export async function reachEndpoint(
  endpoint: AgentEndpoint,
  host: AgentHost,
  signal: AbortSignal,
): Promise<ReachedEndpoint> {
  const { acpArm } = await import('@agentproto/acp')
  const clock = host.clock ?? systemClock
  const began = clock.now()
  try {
    const connection = await acpArm.connect({
      launch: { command: '', args: [], cwd: host.home, env: {}, marker: randomId('ses_') },
      limits: { ...DEFAULT_ARM_LIMITS, ...host.limits },
      clock,
      signal,
      client: host.client ?? DEFAULT_CLIENT,
      serve: {},
      profile: { endpoint: remoteEndpoint(endpoint, host) },
    })
    const handshakeMs = clock.now() - began
    await connection.close()
    return { info: host.redactor?.redactData(connection.info) ?? connection.info, handshakeMs }
  } catch (thrown) {
    throw isAgentprotoError(thrown) ? redactedError(thrown, host.redactor) : thrown
  }
}
