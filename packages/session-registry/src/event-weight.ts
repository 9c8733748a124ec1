import type { SessionEvent } from '@agentproto/contracts'

/** What an event means to those who look after a session. */

/** Whether it changes the state of a session, and not only its activity. */
export const isUrgent = ({ type }: SessionEvent): boolean => URGENT.has(type)

/** Whether a batch is of the agent; what the host does by itself is no sign of life. */
export const isSignOfLife = ([first]: readonly SessionEvent[]): boolean =>
  first === undefined || !HOST_OWN.has(first.type)

const URGENT: ReadonlySet<string> = new Set(['status', 'session-stopped', 'user-prompt', 'turn-end', 'title', 'config'])

const HOST_OWN: ReadonlySet<string> = new Set([
  'runtime-progress',
  'runtime-warning',
  'repair',
  'status',
  'session-stopped',
])
