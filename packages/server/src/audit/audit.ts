import type { SessionMoves } from '@agentproto/contracts/agent'
import type { Services } from '@agentproto/contracts/wire'
import { AuditLog, type AuditLogOptions } from './audit-log.js'
import { openRefusals } from './refusals.js'
import { ToolAudit } from './tool-audit.js'
import { type HostOf, withAudit } from './with-audit.js'
import { withMovesAudit } from './with-moves-audit.js'

/** The audit log of a gateway. */
export type Audit = ReturnType<typeof openAudit>

export function openAudit(options: AuditLogOptions) {
  const log = new AuditLog(options)
  const tools = new ToolAudit(log)
  const refusals = openRefusals(log, options.clock)
  return {
    /** The same service; each call that changes something is recorded, with the other host of a fleet that does it. */
    wrap: <S extends keyof Services>(name: S, service: Services[S], hostOf?: HostOf): Services[S] =>
      withAudit(name, service, { log, hostOf }),
    /** The same moves; each session that comes from another host or goes to one is recorded. */
    moves: (moves: SessionMoves): SessionMoves => withMovesAudit(moves, log),
    /** Records a request that was rejected before any service was called. Never throws. */
    refused: refusals.record,
    /** Records tool calls and answers in a stored batch of one session. Never throws. */
    events: tools.record,
    /** Writes what is pending; nothing is recorded after it. */
    close(): Promise<void> {
      refusals.close()
      return log.close()
    },
  }
}
