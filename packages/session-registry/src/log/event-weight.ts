import type { SessionEvent } from '@agentproto/contracts'

/** What an event means to those who look after a session. */

/** Whether it changes the state of a session, and not only its activity. */
export const isUrgent = ({ type }: SessionEvent): boolean => URGENT.has(type)

/**
 * Whether a batch is of the agent: what the host does by itself is no sign of life, nor what a program writes that is
 * no protocol, on stderr or else: one that tries its provider again and again may go on for ever.
 */
export const isSignOfLife = (events: readonly SessionEvent[]): boolean =>
  events.length === 0 || events.some((event) => !LIFELESS.has(event.type) && !isPermissionMode(event))

/** The type is that of the agent's own settings. */
const isPermissionMode = (event: SessionEvent): boolean => event.type === 'config' && 'permissionMode' in event

const URGENT: ReadonlySet<SessionEvent['type']> = new Set([
  'status',
  'session-stopped',
  'user-prompt',
  'turn-end',
  'title',
  'config',
])

const LIFELESS: ReadonlySet<SessionEvent['type']> = new Set([
  'output',
  'runtime-progress',
  'runtime-warning',
  'repair',
  'status',
  'session-stopped',
])
