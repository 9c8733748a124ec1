import type { Host } from '@agentproto/contracts/wire'

export type HostState = 'reachable' | 'stopped' | 'unreachable'

/** Of one that is not heard from: whether it was stopped, or is lost. */
export const hostState = ({ reachable, stopped }: Pick<Host, 'reachable' | 'stopped'>): HostState => {
  if (reachable) return 'reachable'
  return stopped === true ? 'stopped' : 'unreachable'
}
