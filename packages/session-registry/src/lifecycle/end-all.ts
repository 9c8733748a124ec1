import type { StopReason } from '@agentproto/contracts'
import type { SessionHandle } from '../session/session-handle.js'
import { messageOf } from './ending.js'

/** Ends sessions. Never rejects; returns the problems. One session that cannot be ended does not stop the others. */
export async function endAll(sessions: readonly SessionHandle[], stopReason: StopReason): Promise<readonly string[]> {
  const kills = sessions.map((session) => session.call('kill', { ending: { status: 'killed', stopReason } }))
  const ends = await Promise.allSettled(kills)
  return ends.flatMap((end) => (end.status === 'rejected' ? [messageOf(end.reason)] : []))
}
