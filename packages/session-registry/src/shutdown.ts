import type { ManagedSession } from './managed-session.js'

/** Ends every session that is live, all at once. @returns what could not be ended */
export async function killAll(sessions: readonly ManagedSession[]): Promise<readonly string[]> {
  const kills = await Promise.allSettled(
    sessions.map((session) => session.kill({ status: 'killed', stopReason: 'shutdown' })),
  )
  return kills.flatMap((kill) => (kill.status === 'rejected' ? [String(kill.reason)] : []))
}
