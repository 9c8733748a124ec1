import type { StopReason } from '@agentproto/contracts'
import { type Ending, messageOf } from './ending.js'
import type { HostedSession } from '../hosted-session.js'
import type { SessionHost } from '../session-host.js'

/**
 * Ends sessions with what they depend on: their host, or their parent.
 * @returns What went wrong; a session that cannot be ended keeps none of the others
 */
export async function endAll(
  sessions: readonly HostedSession[],
  stopReason: StopReason = 'shutdown',
): Promise<readonly string[]> {
  const kills = sessions.map((session) => session.kill({ status: 'killed', stopReason }))
  const ends = await Promise.allSettled(kills)
  return ends.flatMap((end) => (end.status === 'rejected' ? [messageOf(end.reason)] : []))
}

/** The agent of a session may start nothing more, and what it started ends with it. Never rejects. */
export function endChildren(
  { onAgentEnding, childrenOf }: Pick<SessionHost, 'onAgentEnding' | 'childrenOf'>,
  id: string,
  { status, stopReason }: Ending,
): Promise<unknown> {
  onAgentEnding?.(id)
  // As it does, where it was ended; that its own agent left or broke is not theirs.
  return endAll(childrenOf(id), status === 'killed' ? stopReason : 'shutdown')
}
