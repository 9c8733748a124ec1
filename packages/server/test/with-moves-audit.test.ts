import { AgentprotoError } from '@agentproto/contracts'
import type { LostSession, SessionMoves } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import type { AuditEntry } from '../src/audit/audit-log.ts'
import { withMovesAudit } from '../src/audit/with-moves-audit.ts'

test('17.7 a session that comes from another host and one that goes to one have a line in the audit log', async () => {
  const lines: AuditEntry[] = []
  const audited = withMovesAudit(MOVES, { write: (entry) => void lines.push(entry) })
  await audited.takeOver(LOST)
  await audited.giveUp('s_2', 'tower')
  await expect(audited.giveUp('s_none', 'tower')).rejects.toMatchObject({ code: 'session_not_found' })
  expect(lines).toMatchObject([
    { kind: 'control', action: 'take-over', session: 's_1', from: 'laptop', outcome: 'ok' },
    { kind: 'control', action: 'give-up', session: 's_2', to: 'tower', outcome: 'ok' },
    { kind: 'control', action: 'give-up', session: 's_none', to: 'tower', outcome: 'session_not_found' },
  ])
})

const LOST: LostSession = {
  session: {
    id: 's_1',
    adapterSlug: 'demo',
    workspaceSlug: 'web',
    cwd: '/work/web',
    status: 'running',
    startedAt: '2026-11-23T00:00:00.000Z',
    hostId: 'laptop',
    type: 'user',
    state: 'idle',
    attachable: true,
    wakeable: false,
    turnCount: 0,
    turn: { number: 0, state: 'idle' },
    lastActiveAt: '2026-11-23T00:00:00.000Z',
    connection: 'connected',
    resumable: true,
    permissionMode: 'ask',
    warnings: [],
    pendingRequests: 0,
    lastSeq: 0,
  },
  from: 'laptop',
  events: (async function* () {})(),
}

const MOVES: SessionMoves = {
  takeOver: ({ session }) => Promise.resolve(session),
  giveUp: (id) =>
    id === 's_none' ? Promise.reject(new AgentprotoError('session_not_found', 'There is none')) : Promise.resolve(),
  settingsOf: () => ({}),
  suspend: () => Promise.resolve({ ended: [], running: [] }),
  release: () => undefined,
}
