import type { Session } from '@agentproto/contracts'

/** What a session is doing, in one word. */
export function sessionState({ status, turn, pendingRequests }: Session): string {
  if (status !== 'running') return status
  if (pendingRequests > 0 || turn.state === 'awaiting-input') return 'awaiting input'
  return turn.state
}
