import { type Clock, type HomeLayout, systemClock } from '@agentproto/contracts'
import type { ProvisionHost } from '@agentproto/provisioning'
import { type Audit, openAudit } from './audit/audit.js'
import { GatewayLog } from './telemetry/gateway-log.js'
import type { GatewayOptions } from './gateway-options.js'
import { Meter } from './telemetry/meter.js'
import { agentHost } from './agents/open-adapters.js'
import { OwnNames } from './listen/own-names.js'
import { layoutOf } from './with-config.js'
import { YoungHeap } from './young-heap.js'

/** The options with their defaults. */
export interface Settings extends GatewayOptions {
  readonly clock: Clock
  readonly layout: HomeLayout
  readonly inMemory: boolean
  readonly onProblem: (problem: string) => void
  readonly host: ProvisionHost
  /** Where it is reached, once it listens. */
  readonly address: { url?: string }
  readonly names: OwnNames
  readonly meter: Meter
  readonly young: YoungHeap
  readonly ownLog: GatewayLog
  readonly audited: Audit
}

export function settle(options: GatewayOptions): Settings {
  const { clock = systemClock } = options
  const layout = layoutOf(options)
  const address: { url?: string } = {}
  const names = new OwnNames(clock)
  // What went wrong may quote what an agent or a request said.
  const onProblem = (problem: string): void => {
    ownLog.write('warn', 'problem', { problem })
    options.onProblem?.(host.redactor.redact(problem))
  }
  const host = agentHost(options, { layout, clock, onProblem, url: () => address.url })
  const inMemory = options.store === 'memory'
  const redact = (line: string): string => host.redactor.redactJson(line)
  const at = (name: string): string | undefined => (inMemory ? undefined : `${layout.logs}/${name}`)
  const ownLog = new GatewayLog({ ...options.log, path: at('gateway.jsonl'), clock, redact })
  const audited = openAudit({ path: options.audit === false ? undefined : at('audit.jsonl'), clock, redact, onProblem })
  return {
    ...options,
    clock,
    layout,
    inMemory,
    onProblem,
    host,
    address,
    names,
    meter: new Meter(),
    young: new YoungHeap(),
    ownLog,
    audited,
  }
}
