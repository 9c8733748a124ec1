import { type HostEvent, type Session, type SessionEvent, type StreamEvent, summaryOf } from '@agentproto/contracts'

export function session(fields: Partial<Session> = {}): Session {
  const facts = {
    ...RUNNING,
    ...fields,
  }
  return { ...facts, ...summaryOf(facts) }
}

const RUNNING = {
  id: 's_abcdefgh123456',
  adapterSlug: 'demo',
  workspaceSlug: 'default',
  cwd: '/work',
  status: 'running',
  startedAt: '2026-11-21T10:00:00.000Z',
  hostId: 'h',
  type: 'user',
  turnCount: 0,
  turn: { number: 0, state: 'idle' },
  lastActiveAt: '2026-11-21T10:00:00.000Z',
  connection: 'connected',
  resumable: false,
  permissionMode: 'ask',
  warnings: [],
  pendingRequests: 0,
  lastSeq: 0,
} as const

/** Numbers the events of one turn, one second apart. */
export function log(events: readonly (StreamEvent | HostEvent)[], turn = 1): SessionEvent[] {
  return events.map((event, index) => ({
    seq: index + 1,
    ts: new Date(Date.parse('2026-11-21T10:00:00.000Z') + index * 1_000).toISOString(),
    sessionId: 's_abcdefgh123456',
    turn,
    ...event,
  }))
}
