import {
  type AgentAnswer,
  AgentprotoError,
  type AgentRequest,
  type AgentSignal,
  type AgentSink,
  BOUNDS,
  type Clock,
  type ContentBlock,
  type RunningAgent,
  type TurnEndReason,
  type UserPrompt,
} from '@agentproto/contracts'
import { type Ending, failureOf, messageOf } from './ending.js'
import type { LogEntry } from './event-record.js'
import type { RegistryConfig } from './registry-config.js'
import type { RequestDesk } from './request-desk.js'
import type { SessionLog } from './session-log.js'
import type { TurnBook } from './turn-book.js'

/** One turn at a time: admission, what the agent says meanwhile, interruption, and an end in any case. */

export interface TurnFlowOptions {
  readonly log: SessionLog
  readonly turns: TurnBook
  readonly desk: RequestDesk
  readonly clock: Clock
  readonly config: Pick<RegistryConfig, 'interruptGraceMs' | 'cancelGraceMs'>
  /** What waits for its turn has changed. */
  readonly onQueue: () => void
  /** Ends the session whose agent does not end its turn. */
  readonly onStuck: (ending: Ending) => void
}

/** Where a prompt comes from, and what becomes of it while a turn runs. */
export interface PromptOrigin {
  readonly origin: 'prompt' | 'spawn'
  readonly whenBusy?: 'reject' | 'queue' | 'interrupt' | undefined
}

export class TurnFlow {
  readonly #options: TurnFlowOptions
  #agent: RunningAgent | undefined
  /** Taken before anything is awaited, so that of two prompts at once one is refused. */
  #reserved = false
  /** Number of the turn that takes stream events: from its admission until its end was seen. */
  #open: number | undefined
  #cancelled: number | undefined
  /** Turn that was cancelled for its silence. */
  #timedOut: number | undefined
  #queue: (readonly ContentBlock[])[] = []
  #sending: Promise<void> = Promise.resolve()
  #ending: Promise<void> | undefined
  #over = false

  constructor(options: TurnFlowOptions) {
    this.#options = options
  }

  attach(agent: RunningAgent): void {
    this.#agent = agent
    this.#over = false
  }

  /** The session ends: what waits is never sent, and no turn begins any more until an agent is attached again. */
  end(): Promise<void> {
    this.#over = true
    return this.dropQueue()
  }

  /**
   * Reserves the turn, logs the prompt, and hands it to the agent; or lets it wait, as `whenBusy` says.
   * @returns number of the turn
   * @throws `turn_in_progress`, `queue_full`, `storage_failed`
   */
  async prompt(content: readonly ContentBlock[], { origin, whenBusy }: PromptOrigin): Promise<number> {
    const { turns } = this.#options
    if (!this.#isBusy()) return this.#begin(content, origin)
    if (whenBusy === 'queue') return this.#enqueue(content)
    if (whenBusy !== 'interrupt') throw inProgress(turns)
    await this.interrupt()
    // Somebody else may have been quicker; then this prompt is refused, not sent twice in a row.
    if (this.#isBusy()) throw inProgress(turns)
    return this.#begin(content, origin)
  }

  get queued(): number {
    return this.#queue.length
  }

  /** Ends the running turn and forgets what waits for it; resolves once its `turn-end` is logged. Idempotent. */
  interrupt(): Promise<{ readonly wasBusy: boolean }> {
    const { interruptGraceMs } = this.#options.config
    return this.#stop(
      interruptGraceMs,
      `The agent did not end its turn within ${interruptGraceMs} ms of being interrupted`,
    )
  }

  /** Ends a turn that has been silent for too long; its `turn-end` says `timeout`. */
  async cancelSilent(idleMs: number): Promise<void> {
    this.#timedOut = this.#options.turns.current?.number
    const { cancelGraceMs } = this.#options.config
    const summary = `The turn was silent for ${idleMs} ms and did not end within ${cancelGraceMs} ms of being cancelled`
    await this.#stop(cancelGraceMs, summary)
  }

  /** Prompts that wait are never sent (failure mode 18); the log says so. */
  async dropQueue(): Promise<void> {
    const dropped = this.#queue.length
    if (dropped === 0) return
    this.#queue = []
    this.#options.turns.dropQueued()
    await this.#options.log.appendOrEnd([
      { type: 'runtime-warning', message: `${dropped} queued prompt(s) were dropped and never sent` },
    ])
  }

  /** Closes a turn that the agent left open. */
  async close(reason: Extract<TurnEndReason, 'cancelled' | 'error' | 'timeout'>, message?: string): Promise<void> {
    const { turns } = this.#options
    // Whoever comes second, agent or host, finds the turn ended; but for an end that could not be logged.
    while (this.#ending !== undefined) await this.#ending
    const turn = turns.current
    if (turn === undefined) return
    const entries: LogEntry[] = turns.openTools.map((toolCallId) => ({
      type: 'tool-result',
      toolCallId,
      status: 'interrupted',
    }))
    if (message !== undefined) entries.push({ type: 'error', message })
    entries.push({ type: 'turn-end', reason, ...(turns.produced ? {} : { empty: true }) })
    this.#open = undefined
    await this.#ends(this.#closeWith(entries, turn.number))
  }

  async #closeWith(entries: readonly LogEntry[], turn: number): Promise<void> {
    await this.#options.desk.cancelAll({ type: 'turn-end' })
    await this.#options.log.appendOrApply(entries, turn)
  }

  /** Remembers an end that is on its way to the log. */
  #ends(end: Promise<void>): Promise<void> {
    const done = end.finally(() => {
      if (this.#ending === done) this.#ending = undefined
    })
    this.#ending = done
    return done
  }

  /** The agent's end of the session. */
  readonly sink: AgentSink = {
    emit: (batch) => this.#emit(batch),
    ask: (request, signal) => this.#ask(request, signal),
  }

  /** One batch of the agent; the returned promise holds its output back until the batch is logged. */
  #emit(batch: readonly AgentSignal[]): Promise<void> {
    const { log, desk } = this.#options
    const turn = this.#open
    if (turn === undefined) return log.appendOrEnd(batch.map(outsideTurn))
    const end = batch.findIndex(({ type }) => type === 'turn-end')
    if (end < 0) return log.appendOrEnd(batch, turn)
    this.#open = undefined
    if (this.#timedOut === turn) batch = batch.map(asTimeout)
    // Without a pending request this does nothing, and the turn's last events go out in this very step.
    if (desk.pendingCount > 0) return this.#ends(this.#emitEnd(batch, end, turn))
    const within = this.#ends(log.appendOrEnd(batch.slice(0, end + 1), turn))
    return end + 1 === batch.length ? within : log.appendOrEnd(batch.slice(end + 1).map(outsideTurn))
  }

  async #emitEnd(batch: readonly AgentSignal[], end: number, turn: number): Promise<void> {
    await this.#options.desk.cancelAll({ type: 'turn-end' })
    await this.#options.log.appendOrEnd(batch.slice(0, end + 1), turn)
    await this.#options.log.appendOrEnd(batch.slice(end + 1).map(outsideTurn))
  }

  #ask(request: AgentRequest, signal: AbortSignal): Promise<AgentAnswer> {
    if (this.#open === undefined || this.#cancelled === this.#open) return Promise.resolve({ outcome: 'cancelled' })
    return this.#options.desk.ask(request, this.#open, signal)
  }

  #isBusy(): boolean {
    return this.#reserved || this.#queue.length > 0 || this.#options.turns.current !== undefined
  }

  async #begin(content: readonly ContentBlock[], origin: UserPrompt['origin']): Promise<number> {
    const { log, turns } = this.#options
    // The end of the session may have come while this prompt waited for another turn's.
    if (this.#over) throw new AgentprotoError('session_ended', 'The session ended before the prompt was sent')
    this.#reserved = true
    try {
      // Nothing is awaited between the look at the next number and the append that takes it.
      const { number } = turns.begin(log.nextSeq, log.now())
      this.#open = number
      await this.#admit({ type: 'user-prompt', content, ...(origin === undefined ? {} : { origin }) }, number)
      this.#sending = this.#send(number, content, this.#sending)
      return number
    } finally {
      this.#reserved = false
    }
  }

  #enqueue(content: readonly ContentBlock[]): number {
    const { turns, onQueue } = this.#options
    if (this.#queue.length >= BOUNDS.queuedPrompts) {
      throw new AgentprotoError('queue_full', `${BOUNDS.queuedPrompts} prompts wait already`, {
        hint: 'Wait for a turn to end',
      })
    }
    this.#queue.push(content)
    turns.queued = this.#queue.length
    onQueue()
    // While a prompt is being reserved its turn is counted already.
    return turns.count + this.#queue.length
  }

  /** Begins the turn of the prompt that has waited longest. */
  async #drain(): Promise<void> {
    const { turns, onQueue } = this.#options
    if (this.#reserved || turns.current !== undefined) return
    const next = this.#queue.shift()
    if (next === undefined) return
    turns.queued = this.#queue.length
    onQueue()
    // A log that cannot be written ends the session; what waits goes with it.
    await this.#begin(next, 'queue').catch(() => this.dropQueue())
  }

  async #stop(graceMs: number, summary: string): Promise<{ readonly wasBusy: boolean }> {
    const { turns, desk, clock, onStuck } = this.#options
    const turn = turns.current
    this.#cancelled = turn?.number
    await this.dropQueue()
    if (turn === undefined || this.#agent === undefined) return { wasBusy: false }
    const ended = turns.get(turn.number)?.state === 'running' ? turns.wait(turn.number) : undefined
    const grace = clock.after(graceMs, () => {
      onStuck({ status: 'killed', stopReason: 'timeout', failure: failureOf('timeout', summary) })
    })
    await desk.cancelAll({ type: 'turn-end' })
    // A cancel that fails is a dying agent, which ends the turn by itself; the grace covers the rest.
    await this.#agent.cancel().catch(() => undefined)
    await ended
    grace.cancel()
    return { wasBusy: true }
  }

  async #admit(prompt: LogEntry, turn: number): Promise<void> {
    try {
      await this.#options.log.append([prompt], turn)
    } catch (error) {
      this.#options.turns.abandon()
      this.#open = undefined
      throw error
    }
  }

  /** Runs one turn to its end; whatever the agent does, the turn gets its `turn-end`. */
  async #send(turn: number, content: readonly ContentBlock[], previous: Promise<void>): Promise<void> {
    await previous
    await this.#run(turn, content)
    await this.#drain()
  }

  async #run(turn: number, content: readonly ContentBlock[]): Promise<void> {
    // A prompt of a stopped generation is never sent (failure mode 18).
    if (this.#cancelled === turn) return this.close('cancelled')
    // Its session ended while the prompt was being logged.
    if (this.#open !== turn) return
    try {
      await this.#agent?.send(content)
    } catch (error) {
      return this.close('error', messageOf(error))
    }
    if (this.#options.turns.current?.number === turn)
      await this.close('error', 'The agent settled the prompt without ending its turn')
  }
}

function inProgress(turns: TurnBook): AgentprotoError {
  const turn = turns.current?.number ?? turns.count + 1
  return new AgentprotoError('turn_in_progress', `Turn ${turn} of the session is in progress`, {
    hint: 'Wait for its turn-end, or interrupt it',
    data: { turn },
  })
}

/** A turn that was cancelled for its silence has timed out, whatever the agent calls its end. */
const asTimeout = (signal: AgentSignal): AgentSignal =>
  signal.type === 'turn-end' && signal.reason === 'cancelled' ? { ...signal, reason: 'timeout' } : signal

const STREAM: ReadonlySet<string> = new Set(['text-delta', 'thought', 'tool-call', 'tool-result', 'turn-end'])

/** What an agent says of a turn when none is open is kept, but not as a part of a turn. */
function outsideTurn(signal: AgentSignal): LogEntry {
  return STREAM.has(signal.type) ? { type: 'extension', kind: `stray-${signal.type}`, payload: signal } : signal
}
