import { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
import type { DaemonRecord } from '@agentproto/contracts/agent'

/** Adds the address of the other gateway to a `daemon_running` error. */
export async function withAddress(thrown: unknown, record: DaemonRecord | undefined): Promise<never> {
  if (!isAgentprotoError(thrown) || thrown.code !== 'daemon_running' || record === undefined) throw thrown
  const { url, pid } = record
  throw new AgentprotoError('daemon_running', `This home already has a gateway: ${url}, process ${pid}`, {
    hint: 'Use it (agentproto status), stop it (agentproto stop), or choose another home with AGENTPROTO_HOME',
    data: { url, pid },
    cause: thrown,
  })
}
