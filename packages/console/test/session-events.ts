import type { SessionEvent } from '@agentproto/client'

/** What an event says, without where it is in the log. */
export type Body = SessionEvent extends infer E
  ? E extends SessionEvent
    ? Omit<E, 'seq' | 'ts' | 'turn' | 'sessionId'>
    : never
  : never

/** The log of a session, from its first event. */
export const eventsOf = (...bodies: readonly Body[]): readonly SessionEvent[] =>
  bodies.map((body, index) => ({ ...body, seq: index + 1, ts: '2026-11-22T00:00:00.000Z', turn: 1, sessionId: 's' }))
