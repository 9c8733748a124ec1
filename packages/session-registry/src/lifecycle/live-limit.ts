import { AgentprotoError } from '@agentproto/contracts'
import type { ManagedSession } from '../managed-session.js'

/** @throws `session_limit_reached` when as many sessions are live as may be */
export function assertRoom(sessions: Iterable<ManagedSession>, max: number): void {
  let live = 0
  for (const { isLive } of sessions) if (isLive) live += 1
  if (live < max) return
  throw new AgentprotoError('session_limit_reached', `${live} sessions are live, as many as this host allows`, {
    hint: 'Kill one with `agentproto sessions kill`, or raise sessions.maxSessions',
  })
}
