import { DEFAULT_ARM_LIMITS } from '@agentproto/contracts'
import type { AgentEnd, AgentSignal, AgentSink, ArmConnection, Clock } from '@agentproto/contracts'
import { endProcesses } from '@agentproto/subprocess'
import type { AgentHost } from '../agent-host.js'

export interface TimeLimitOptions {
  /** Milliseconds; without it nothing is limited. */
  readonly timeoutMs?: number
  readonly host: AgentHost
  readonly clock: Clock
}

/** What `limits.timeout_ms` of a sandbox makes of a launch (AIP-36): its agent ends, and its end is told as a `timeout`. */
export interface TimeLimit {
  /** What the agent says; a turn that the limit ends is ended by `timeout`. */
  sink(inner: AgentSink): AgentSink
  /** Begins to count. */
  connection(inner: ArmConnection, sink: AgentSink): ArmConnection
  /** The agent ends otherwise. */
  cancel(): void
}

export function timeLimit({ timeoutMs, host, clock }: TimeLimitOptions): TimeLimit {
  return timeoutMs === undefined ? UNLIMITED : new Limit(timeoutMs, host, clock)
}

const UNLIMITED: TimeLimit = { sink: (inner) => inner, connection: (inner) => inner, cancel: () => {} }

class Limit implements TimeLimit {
  readonly #text: string
  readonly #timeoutMs: number
  readonly #clock: Clock
  readonly #termGraceMs: number
  #isOver = false
  #timer: { cancel(): void } | undefined

  constructor(timeoutMs: number, { limits }: AgentHost, clock: Clock) {
    this.#timeoutMs = timeoutMs
    this.#clock = clock
    this.#termGraceMs = limits?.termGraceMs ?? DEFAULT_ARM_LIMITS.termGraceMs
    this.#text = `The agent ran for the ${timeoutMs} ms that limits.timeout_ms of its sandbox gives it, and is ended`
  }

  sink(inner: AgentSink): AgentSink {
    return {
      emit: (batch) => inner.emit(this.#isOver ? batch.map(byTimeout) : batch),
      ask: (request, signal) => inner.ask(request, signal),
    }
  }

  connection(inner: ArmConnection, sink: AgentSink): ArmConnection {
    // What is reached by an address has no process to end: for it, the limit is the end.
    const over = new Promise<AgentEnd>((resolve) => {
      this.#timer = this.#clock.after(this.#timeoutMs, () => void this.#end(inner, sink).then(resolve))
    })
    const ended = inner.ended.then((end) => (this.#isOver ? this.#told(end) : end))
    return {
      info: inner.info,
      ...(inner.process === undefined ? {} : { process: inner.process }),
      ended: inner.process === undefined ? Promise.race([ended, over]) : ended,
      openSession: (options, into) => inner.openSession(options, into),
      ...(inner.listSessions === undefined ? {} : { listSessions: inner.listSessions.bind(inner) }),
      close: () => inner.close(),
    }
  }

  cancel(): void {
    this.#timer?.cancel()
  }

  async #end(inner: ArmConnection, sink: AgentSink): Promise<AgentEnd> {
    this.#isOver = true
    await Promise.resolve(sink.emit([{ type: 'notice', severity: 'error', text: this.#text }])).catch(() => {})
    const graces = { termGraceMs: this.#termGraceMs }
    // What lives on is named when the session is ended.
    await (inner.process === undefined ? inner.close() : endProcesses([inner.process], graces, this.#clock)).catch(
      () => {},
    )
    return this.#told({ cause: 'exit', duringTurn: false, message: '', stderrTail: '' })
  }

  #told(end: AgentEnd): AgentEnd {
    return { ...end, cause: 'timeout', message: this.#text }
  }
}

const byTimeout = (signal: AgentSignal): AgentSignal =>
  signal.type === 'turn-end' && (signal.reason === 'error' || signal.reason === 'cancelled')
    ? { ...signal, reason: 'timeout' }
    : signal
