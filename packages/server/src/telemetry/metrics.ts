import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { type ErrorCode, everySession, SESSION_STATUSES, type SessionEvent, type Usage } from '@agentproto/contracts'
import type { NotificationState, SessionService, StreamStats } from '@agentproto/contracts/wire'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** Upper bounds of the buckets of a turn's duration, in seconds. */
const TURN_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 1_800]

const TOKEN_KINDS = [
  ['input', 'inputTokens'],
  ['output', 'outputTokens'],
  ['cached-read', 'cachedReadTokens'],
  ['cached-write', 'cachedWriteTokens'],
  ['thought', 'thoughtTokens'],
] as const
/** Others are added up as `other`. */
const CURRENCIES: ReadonlySet<string> = new Set(['USD', 'EUR', 'GBP', 'JPY', 'CNY', 'INR', 'CHF', 'CAD', 'AUD'])

/** What a gateway knows of its fleet. */
interface FleetFigures {
  readonly isJoined: boolean
  readonly lag: number
  readonly hosts: { readonly reachable: number; readonly unreachable: number; readonly stopped: number }
  readonly forwarded: number
  readonly fenced: number
}

/** The metrics of one gateway, in its own registry. Counters follow the event log; gauges are set at each scrape. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #turns = this.#counter('turns_total', 'Turns that ended, by reason.', 'reason')
  readonly #stops = this.#counter('sessions_stopped_total', 'Agent runs that ended, by reason.', 'reason')
  readonly #restarts = this.#counter('session_restarts_total', 'Sessions that were resumed.')
  readonly #events = this.#counter('events_total', 'Events that were stored.')
  readonly #refused = this.#counter('streams_refused_total', 'Event streams that were refused: too many were open.')
  readonly #tokens = this.#counter('tokens_total', 'Tokens that agents reported, by kind.', 'kind')
  readonly #cost = this.#counter('cost_total', 'Cost that agents reported, by currency.', 'currency')
  readonly #unreported = this.#counter('turns_unreported_total', 'Turns that reported neither tokens nor a cost.')
  readonly #notified = this.#counter('notifications_total', 'Notifications that were delivered, by target.', 'target')
  readonly #notifyFailures = this.#counter('notification_failures_total', 'Attempts that failed, by target.', 'target')
  readonly #unnotified = this.#counter(
    'notifications_dropped_total',
    'Notifications never delivered, by reason.',
    'reason',
  )
  readonly #outbox = this.#gauge('notifications_waiting', 'Notifications that wait for their target.', 'target')
  readonly #cpu = this.#counter('cpu_seconds_total', 'Processor time of the gateway’s process.')
  readonly #sessions = this.#gauge('sessions', 'Sessions by status.', 'status')
  readonly #busy = this.#gauge('sessions_busy', 'Sessions with a running turn.')
  readonly #awaitingInput = this.#gauge('sessions_awaiting_input', 'Sessions whose agent waits for an answer.')
  readonly #queued = this.#gauge('queued_prompts', 'Prompts in the queues of sessions.')
  readonly #keptAgents = this.#gauge('kept_agents', 'Agents that outlive the gateway.')
  readonly #keptBytes = this.#gauge('kept_bytes', 'What is kept of their pipes for the next gateway.')
  readonly #adopted = this.#counter('agents_adopted_total', 'Agents of an earlier gateway that went on with this one.')
  readonly #notAdopted = this.#counter(
    'agents_not_adopted_total',
    'Agents of an earlier gateway that did not go on with this one, by reason.',
    'reason',
  )
  readonly #fleetJoined = this.#gauge('fleet_joined', 'Whether this host is one of its fleet now.')
  readonly #fleetLag = this.#gauge('fleet_lag_events', 'Stored events that other hosts cannot read yet.')
  readonly #fleetHosts = this.#gauge('fleet_hosts', 'Hosts of the fleet, by whether they are heard from.', 'state')
  readonly #forwarded = this.#counter('fleet_forwarded_calls_total', 'Calls that were sent to other hosts.')
  readonly #fenced = this.#counter('fleet_fenced_sessions_total', 'Sessions that another host has taken over.')
  readonly #unguarded = this.#counter(
    'fleet_refused_guards_total',
    'Guards of agents of sessions that may move that the keeper did not take, or not whole.',
  )
  readonly #streams = this.#gauge('streams', 'Event streams that are open.')
  readonly #lag = this.#gauge('stream_lag_events', 'Events that the slowest reader has not read yet.')
  readonly #loopLag = this.#gauge('event_loop_lag_seconds', 'Worst delay of the event loop since the last scrape.')
  readonly #memory = this.#gauge('resident_memory_bytes', 'Memory of the gateway’s process.')
  readonly #uptime = this.#gauge('uptime_seconds', 'Age of the gateway’s process.')
  readonly #duration = new Histogram({
    name: 'agentproto_turn_duration_seconds',
    help: 'How long turns took.',
    buckets: TURN_SECONDS,
    registers: [this.#registry],
  })
  /** When the running turn of a session began, in ms; one entry for each running turn. */
  readonly #turnStarts = new Map<string, number>()
  /** Measured from the first scrape on. */
  #delays: IntervalHistogram | undefined

  constructor(version: string) {
    this.#gauge('info', 'The gateway’s version.', 'version').set({ version }, 1)
  }

  /** Counts a stored batch of one session. @param urgent whether it holds more than agent output */
  count(events: readonly SessionEvent[], urgent: boolean): void {
    this.#events.inc(events.length)
    if (!urgent) return
    for (const event of events) {
      const { sessionId } = event
      if (event.type === 'user-prompt') this.#turnStarts.set(sessionId, Date.parse(event.ts))
      else if (event.type === 'turn-end') {
        this.#turns.inc({ reason: event.reason })
        const start = this.#turnStarts.get(sessionId)
        if (start !== undefined) this.#duration.observe(Math.max(0, Date.parse(event.ts) - start) / 1_000)
        this.#turnStarts.delete(sessionId)
      } else if (event.type === 'session-stopped') {
        this.#stops.inc({ reason: event.stopReason })
        this.#turnStarts.delete(sessionId)
      } else if (event.type === 'status' && event.status === 'starting' && event.previous !== undefined)
        this.#restarts.inc()
    }
  }

  /** Counts what a turn used. */
  readonly usage = ({ tokens = {}, cost = [], unreported }: Usage): void => {
    for (const [kind, name] of TOKEN_KINDS) this.#tokens.inc({ kind }, tokens[name] ?? 0)
    // An agent names the currency, and labels come from closed lists.
    for (const { currency, amount } of cost)
      this.#cost.inc({ currency: CURRENCIES.has(currency) ? currency : 'other' }, amount)
    this.#unreported.inc(unreported)
  }

  /** Counts an agent of an earlier gateway. @param refused why it does not go on; absent where it does */
  readonly adoption = (refused?: ErrorCode): void => {
    if (refused === undefined) this.#adopted.inc()
    else this.#notAdopted.inc({ reason: refused })
  }

  /** What the keeper holds at the next scrape. */
  setKept(agents: readonly { readonly keptBytes: number }[]): void {
    this.#keptAgents.set(agents.length)
    this.#keptBytes.set(agents.reduce((sum, { keptBytes }) => sum + keptBytes, 0))
  }

  /** What is known of the fleet at the next scrape; undefined while this host is alone. */
  setFleet(figures: FleetFigures | undefined): void {
    this.#fleetJoined.set(figures?.isJoined === true ? 1 : 0)
    if (figures === undefined) return
    const { lag, hosts, forwarded, fenced } = figures
    this.#fleetLag.set(lag)
    for (const [state, count] of Object.entries(hosts)) this.#fleetHosts.set({ state }, count)
    setTotal(this.#forwarded, forwarded)
    setTotal(this.#fenced, fenced)
  }

  /** What the keeper did not guard, at the next scrape; undefined without a fleet or without a keeper. */
  setGuards(guards: { readonly refused: number } | undefined): void {
    if (guards !== undefined) setTotal(this.#unguarded, guards.refused)
  }

  /** Prometheus' text format, 0.0.4. */
  async text(
    sessions: Pick<SessionService, 'list'>,
    streams: StreamStats,
    { targets }: NotificationState,
  ): Promise<string> {
    await this.#setSessions(sessions)
    this.#setNotifications(targets)
    this.#streams.set(streams.open)
    this.#lag.set(streams.behind)
    setTotal(this.#refused, streams.refused)
    this.#setProcess()
    return this.#registry.metrics()
  }

  async #setSessions(service: Pick<SessionService, 'list'>): Promise<void> {
    for (const status of SESSION_STATUSES) this.#sessions.set({ status }, 0)
    for (const gauge of [this.#busy, this.#awaitingInput, this.#queued]) gauge.set(0)
    for await (const { status, turn, queuedPrompts = 0 } of everySession(service)) {
      this.#sessions.inc({ status })
      this.#queued.inc(queuedPrompts)
      if (turn.state === 'busy') this.#busy.inc()
      if (turn.state === 'awaiting-input') this.#awaitingInput.inc()
    }
  }

  #setNotifications(targets: NotificationState['targets']): void {
    for (const metric of [this.#notified, this.#notifyFailures, this.#unnotified]) metric.reset()
    for (const { target, waiting, delivered, failures, dropped } of targets) {
      this.#outbox.set({ target }, waiting)
      this.#notified.inc({ target }, delivered)
      this.#notifyFailures.inc({ target }, failures)
      for (const [reason, count] of Object.entries(dropped)) this.#unnotified.inc({ reason }, count)
    }
  }

  #setProcess(): void {
    const { user, system } = process.cpuUsage()
    setTotal(this.#cpu, (user + system) / 1e6)
    this.#memory.set(process.memoryUsage.rss())
    this.#uptime.set(process.uptime())
    this.#loopLag.set(this.#delays === undefined || this.#delays.count === 0 ? 0 : this.#delays.max / 1e9)
    this.#delays ??= monitorEventLoopDelay({ resolution: 20 })
    this.#delays.enable()
    this.#delays.reset()
  }

  #counter(name: string, help: string, label?: string): Counter {
    return new Counter(this.#named(name, help, label))
  }

  #gauge(name: string, help: string, label?: string): Gauge {
    return new Gauge(this.#named(name, help, label))
  }

  #named(name: string, help: string, label?: string): ConstructorParameters<typeof Counter>[0] {
    const labelNames = label === undefined ? [] : [label]
    return { name: `agentproto_${name}`, help, labelNames, registers: [this.#registry] }
  }
}

/** For a total that is counted elsewhere. */
function setTotal(counter: Counter, total: number): void {
  counter.reset()
  counter.inc(total)
}
