import type { Refusal, SessionEvent } from '@agentproto/contracts'
import type { Services } from '@agentproto/contracts/wire'
import { AuditLog, type AuditLogOptions } from './audit-log.js'
import { Refusals } from './refusals.js'
import { ToolAudit } from './tool-audit.js'
import { withAudit } from './with-audit.js'

/** The audit log of a gateway. */
export interface Audit {
  /** The same service; each call that changes something is recorded. */
  wrap<S extends keyof Services>(name: S, service: Services[S]): Services[S]
  /** Records a request that was rejected before any service was called. Never throws. */
  refused(refusal: Refusal): void
  /** Records tool calls and answers in a stored batch of one session. Never throws. */
  events(events: readonly SessionEvent[]): void
  /** Writes what is pending; nothing is recorded after it. */
  close(): Promise<void>
}

export function openAudit(options: AuditLogOptions): Audit {
  const log = new AuditLog(options)
  const tools = new ToolAudit(log)
  const refusals = new Refusals(log, options.clock)
  return {
    wrap: (name, service) => withAudit(name, service, log),
    refused: (refusal) => refusals.record(refusal),
    events: tools.record,
    close() {
      refusals.close()
      return log.close()
    },
  }
}
