import { AgentprotoError } from '@agentproto/contracts'
import type { LostSession, SessionMoves } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { plainMoves } from '../../session-registry/test/fixtures/plain-moves.ts'
import { testSession } from '../../session-registry/test/fixtures/test-session.ts'
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
  session: testSession('s_1', { hostId: 'laptop' }),
  from: 'laptop',
  events: (async function* () {})(),
}

const MOVES: SessionMoves = {
  ...plainMoves,
  giveUp: (id) =>
    id === 's_none' ? Promise.reject(new AgentprotoError('session_not_found', 'There is none')) : Promise.resolve(),
}
