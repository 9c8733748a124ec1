import type { StoredSession } from '@agentproto/contracts/agent'
import type { SessionHost } from '../session-host.js'
import { withoutHalfTaken } from './take-over.js'

/** The stored sessions of this host, oldest first. @throws `storage_failed` */
export async function loadSessions(
  host: Pick<SessionHost, 'store' | 'logs' | 'worktrees' | 'onProblem' | 'hostId'>,
): Promise<readonly StoredSession[]> {
  const { sessions, problems } = await host.store.load()
  for (const problem of problems) host.onProblem(problem)
  const whole = await withoutHalfTaken(sessions, host)
  // The machine may have another name now, or one of a fleet.
  return whole.map((stored) => ({ ...stored, session: { ...stored.session, hostId: host.hostId } }))
}
