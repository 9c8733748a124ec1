import type { StreamStats } from '@agentproto/gateway-http'
import { type Census, type Meter, TURN_SECONDS } from './meter.js'

/** Prometheus' text format, 0.0.4. */

export interface Measured {
  readonly meter: Meter
  readonly census: Census
  readonly streams: StreamStats
  readonly version: string
  readonly rssBytes: number
  readonly uptimeSeconds: number
  readonly cpuSeconds: number
  /** How late the event loop was at worst since the last time somebody asked, in seconds. */
  readonly loopLagSeconds: number
}

/** Everything that is measured, as a scrape reads it. */
export function metricsText({ meter, census, streams, ...host }: Measured): string {
  const { byStatus, busy, awaitingInput, queuedPrompts } = census
  return [
    family('info gauge', 'The gateway’s version.', [[{ version: host.version }, 1]]),
    family('sessions gauge', 'Sessions by status.', counts('status', Object.entries(byStatus))),
    family('sessions_busy gauge', 'Sessions whose turn runs.', [[{}, busy]]),
    family('sessions_awaiting_input gauge', 'Sessions whose agent waits for an answer.', [[{}, awaitingInput]]),
    family('queued_prompts gauge', 'Prompts that wait for their turn.', [[{}, queuedPrompts]]),
    family('turns_total counter', 'Turns that ended, by reason.', counts('reason', meter.turnsByReason)),
    turnDurations(meter),
    family(
      'sessions_stopped_total counter',
      'Runs of agents that ended, by reason.',
      counts('reason', meter.stopsByReason),
    ),
    family('session_restarts_total counter', 'Sessions that were taken up again.', [[{}, meter.resumes]]),
    family('events_total counter', 'Events that were stored.', [[{}, meter.events]]),
    family('streams gauge', 'Event streams that are open.', [[{}, streams.open]]),
    family('streams_refused_total counter', 'Event streams beyond the limit.', [[{}, streams.refused]]),
    family('stream_lag_events gauge', 'Events that the slowest reader has not taken.', [[{}, streams.behind]]),
    family('event_loop_lag_seconds gauge', 'Worst delay of the event loop since the last scrape.', [
      [{}, host.loopLagSeconds],
    ]),
    family('resident_memory_bytes gauge', 'Memory of the gateway’s process.', [[{}, host.rssBytes]]),
    family('cpu_seconds_total counter', 'Processor time of the gateway’s process.', [[{}, host.cpuSeconds]]),
    family('uptime_seconds gauge', 'Since the gateway’s process started.', [[{}, host.uptimeSeconds]]),
  ].join('')
}

type Labels = Readonly<Record<string, string>>
type Sample = readonly [labels: Labels, value: number]

const counts = (label: string, entries: Iterable<readonly [string, number]>): readonly Sample[] =>
  [...entries].map(([key, value]) => [{ [label]: key }, value])

/** @param name with its type, `sessions gauge` */
function family(named: `${string} ${'counter' | 'gauge'}`, help: string, samples: readonly Sample[]): string {
  const [name = '', type = ''] = named.split(' ')
  return header(name, type, help) + samples.map(([labels, value]) => line(name, labels, value)).join('')
}

function turnDurations({ turnBuckets, turnSeconds }: Meter): string {
  let ended = 0
  const buckets = turnBuckets.map((count, at) => {
    ended += count
    return line('turn_duration_seconds_bucket', { le: String(TURN_SECONDS[at] ?? '+Inf') }, ended)
  })
  const sum = line('turn_duration_seconds_sum', {}, turnSeconds) + line('turn_duration_seconds_count', {}, ended)
  return header('turn_duration_seconds', 'histogram', 'How long turns took.') + buckets.join('') + sum
}

const header = (name: string, type: string, help: string): string =>
  `# HELP agentproto_${name} ${help}\n# TYPE agentproto_${name} ${type}\n`

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${text.replaceAll(/[\\"\n]/g, '')}"`)
  return `agentproto_${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`
}
