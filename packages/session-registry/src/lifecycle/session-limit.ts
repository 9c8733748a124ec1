import { AgentprotoError } from '@agentproto/contracts'
import type { RegistryConfig } from '../registry-config.js'

/** @throws `session_limit_reached` when as many sessions are live as the host allows */
export function assertSessionRoom(live: number, { maxSessions }: Pick<RegistryConfig, 'maxSessions'>): void {
  if (live < maxSessions) return
  throw new AgentprotoError('session_limit_reached', `${live} sessions are live, as many as this host allows`, {
    hint: 'Kill one with `agentproto sessions kill <id>`, or raise sessions.maxSessions',
  })
}
