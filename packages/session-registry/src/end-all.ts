import type { ManagedSession } from './managed-session.js'
import { messageOf } from './ending.js'

/**
 * Ends every live session with its host.
 * @returns What went wrong; a session that cannot be ended keeps none of the others
 */
export async function endAll(sessions: readonly ManagedSession[]): Promise<readonly string[]> {
  const kills = sessions.map((session) => session.kill({ status: 'killed', stopReason: 'shutdown' }))
  const ends = await Promise.allSettled(kills)
  return ends.flatMap((end) => (end.status === 'rejected' ? [messageOf(end.reason)] : []))
}
