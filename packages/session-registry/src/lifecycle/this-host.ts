import { AgentprotoError } from '@agentproto/contracts'
import type { SpawnAgentRequest } from '@agentproto/contracts/wire'

/** A registry has the sessions of one host: a fleet chooses the host before. @throws `host_not_found` */
export function assertThisHost({ on = 'any' }: Pick<SpawnAgentRequest, 'on'>, hostId: string): void {
  if (on === 'any' || on === hostId) return
  throw new AgentprotoError('host_not_found', 'No host has this name or label', {
    expected: `${hostId} or any: this gateway belongs to no fleet`,
    given: on,
    hint: 'List the hosts with `agentproto hosts`',
  })
}
