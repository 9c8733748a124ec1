import type { SessionEvent } from '@agentproto/contracts'
import { createRedactor } from '@agentproto/secrets'
import { GatewayLog, Metrics, openAudit } from '@agentproto/server'
import type { Settings } from './settings.js'
import { version } from './version.js'

/** Where every part of a gateway reports to. */
export type Observers = ReturnType<typeof observe>

/** Opens the log, the audit log and the metrics of a gateway. */
export function observe({ clock, layout, inMemory, ...settings }: Settings) {
  const redactor = createRedactor()
  /** Redacts known secrets in JSON. */
  const redact = redactor.redactJson.bind(redactor)
  const path = inMemory ? undefined : `${layout.logs}/gateway.jsonl`
  const log = new GatewayLog({ ...settings.log, path, clock, redact: (fields) => redactor.redactData(fields) })
  const onProblem = (problem: string): void => {
    log.write('warn', 'problem', { problem })
    // A problem may quote what an agent or a request said.
    settings.onProblem?.(redactor.redact(problem))
  }
  const auditPath = inMemory || settings.audit === false ? undefined : `${layout.logs}/audit.jsonl`
  const audit = openAudit({ path: auditPath, clock, redact, onProblem })
  const metrics = new Metrics(version)
  /** Called with each stored batch of one session's events. */
  function onEvents(events: readonly SessionEvent[], urgent: boolean): void {
    metrics.count(events, urgent)
    if (urgent) log.events(events)
    audit.events(events)
  }
  return { redactor, redact, onProblem, log, audit, metrics, onEvents }
}
