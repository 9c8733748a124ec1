import { type Clock, type Refusal, traceIdOf } from '@agentproto/contracts'
import { RepeatLimit, type Suppressed } from '../telemetry/repeat-limit.js'
import type { AuditWriter } from './audit-log.js'

/** Lines in a minute; more are counted, and the count is one line. */
const BURST = 10
const MAX_CHARS = 200

/** Records who was rejected, with a limit on lines: an attacker cannot fill the disk with them. */
export function openRefusals(log: AuditWriter, clock: Clock) {
  const limit = new RepeatLimit(clock, BURST)
  const writeCount = (suppressed: Suppressed | undefined): void => {
    if (suppressed !== undefined) log.write({ kind: 'refused', ...suppressed })
  }
  return {
    record({ code: outcome, by, method, path, from, tool }: Refusal): void {
      const { admitted, suppressed } = limit.check('refused')
      writeCount(suppressed)
      if (!admitted) return
      const principal = by === undefined ? undefined : { type: by.type, name: by.name }
      const traceId = by?.trace && traceIdOf(by.trace)
      const what = { method, path: path?.slice(0, MAX_CHARS), tool: tool?.slice(0, MAX_CHARS), from }
      log.write({ kind: 'refused', outcome, principal, ...what, traceId })
    },
    /** Writes how many were counted without a line. */
    close: () => writeCount(limit.suppressed('refused')),
  }
}
