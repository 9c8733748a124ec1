import type { Session } from '@agentproto/contracts'

/** The state of a session, in a word or two. */
export function sessionState({ status, turn, pendingRequests }: Session): string {
  if (status !== 'running') return status
  if (pendingRequests > 0 || turn.state === 'awaiting-input') return 'awaiting input'
  return turn.state
}

/** Ids are random: ten characters distinguish hundreds of them. */
const SHORT_ID = 10

export const shortId = (id: string): string => id.slice(0, SHORT_ID)
