import type { SessionMoves } from '@agentproto/contracts/agent'
import type { AuditWriter } from './audit-log.js'
import { auditPromise } from './with-audit.js'

/** The same moves; each session that comes from another host or goes to one leaves a line. No principal: the gateway does it itself. */
export const withMovesAudit = (moves: SessionMoves, log: AuditWriter): SessionMoves => ({
  takeOver(lost) {
    const { session, from } = lost
    const call = { action: 'take-over', by: undefined, session: session.id, about: { from } }
    return auditPromise(log, call, moves.takeOver(lost))
  },
  giveUp(id, to) {
    const call = { action: 'give-up', by: undefined, session: id, about: { to } }
    return auditPromise(log, call, moves.giveUp(id, to))
  },
  settingsOf: (id) => moves.settingsOf(id),
  suspend: (why, withinMs) => moves.suspend(why, withinMs),
  release: () => moves.release(),
  renew: (times) => moves.renew(times),
})
