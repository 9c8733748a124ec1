import type { Clock, Timer } from '@agentproto/contracts'
import {
  type AgentEnd,
  type AgentSignal,
  type AgentSink,
  type ArmConnection,
  DEFAULT_ARM_LIMITS,
} from '@agentproto/contracts/agent'
import { endProcesses } from '@agentproto/subprocess'
import type { AgentHost } from '../agent-host.js'

/** `limits.timeout_ms` of a sandbox (AIP-36): when the time is over, the agent is ended and its end reported as `timeout`. */
export class TimeLimit {
  /** The whole limit, in milliseconds. */
  readonly ms: number
  readonly #remainingMs: number
  readonly #clock: Clock
  readonly #termGraceMs: number
  readonly #message: string
  #isOver = false
  #timer: Timer | undefined

  /** @param elapsedMs how long the agent has run already, in milliseconds */
  constructor(ms: number, { limits }: AgentHost, { clock, elapsedMs = 0 }: { clock: Clock; elapsedMs?: number }) {
    this.ms = ms
    this.#remainingMs = Math.max(0, ms - elapsedMs)
    this.#clock = clock
    this.#termGraceMs = limits?.termGraceMs ?? DEFAULT_ARM_LIMITS.termGraceMs
    this.#message = `The agent was ended: it ran for the ${ms} ms of limits.timeout_ms of its sandbox`
  }

  /** A sink that reports a turn which the limit ends as `timeout`. */
  sink(inner: AgentSink): AgentSink {
    return {
      emit: (batch) => inner.emit(this.#isOver ? batch.map(asTimeout) : batch),
      ask: (request, signal, options) => inner.ask(request, signal, options),
      mark: () => inner.mark?.() ?? 0,
      answered: (request) => inner.answered?.(request),
    }
  }

  /** Starts the time. Settles with the end of the agent. */
  start(connection: ArmConnection, sink: AgentSink): Promise<AgentEnd> {
    // An agent behind a URL has no process that ends: for it, the limit is the end.
    const timeout = new Promise<AgentEnd>((resolve) => {
      this.#timer = this.#clock.after(this.#remainingMs, () => void this.#end(connection, sink).then(resolve))
    })
    const ended = connection.ended.then((end) => (this.#isOver ? this.#timedOut(end) : end))
    return connection.process === undefined ? Promise.race([ended, timeout]) : ended
  }

  cancel(): void {
    this.#timer?.cancel()
  }

  async #end(connection: ArmConnection, sink: AgentSink): Promise<AgentEnd> {
    this.#isOver = true
    await Promise.resolve(sink.emit([{ type: 'notice', severity: 'error', text: this.#message }])).catch(() => {})
    const { process } = connection
    const ending: Promise<unknown> =
      process === undefined
        ? connection.close()
        : endProcesses([process], { termGraceMs: this.#termGraceMs }, this.#clock)
    // The end of the session names what did not end.
    await ending.catch(() => {})
    return this.#timedOut({ cause: 'exit', duringTurn: false, message: '', stderrTail: '' })
  }

  #timedOut(end: AgentEnd): AgentEnd {
    return { ...end, cause: 'timeout', message: this.#message }
  }
}

const asTimeout = (signal: AgentSignal): AgentSignal =>
  signal.type === 'turn-end' && (signal.reason === 'error' || signal.reason === 'cancelled')
    ? { ...signal, reason: 'timeout' }
    : signal
