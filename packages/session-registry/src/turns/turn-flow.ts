import {
  type AgentAnswer,
  AgentprotoError,
  type AgentRequest,
  type AgentSignal,
  type AgentSink,
  type Clock,
  type ContentBlock,
  type Interrupted,
  type PromptPreface,
  type RunningAgent,
  type TraceContext,
  type TurnEndReason,
  type UserPrompt,
} from '@agentproto/contracts'
import { type Ending, failureOf, messageOf, type TurnError } from '../lifecycle/ending.js'
import type { LogEntry } from '../log/event-record.js'
import { PromptQueue, type WaitingPrompt } from './prompt-queue.js'
import type { RegistryConfig } from '../registry-config.js'
import type { RequestDesk } from '../requests/request-desk.js'
import type { SessionLog } from '../log/session-log.js'
import { outsideTurn } from './stray-signal.js'
import { type Admission, admitted, contentFor, inProgress } from './turn-admission.js'
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
  /** What the agent has to be told before its next prompt. */
  readonly preface: () => readonly PromptPreface[]
  /** The agent is given the prompt that was logged last, and its preface. */
  readonly onSend: () => void
  /** Ends the session whose agent does not end its turn. */
  readonly onStuck: (ending: Ending) => void
}

/** Where a prompt comes from, and what becomes of it while a turn runs. */
export interface PromptOrigin {
  readonly origin: 'prompt' | 'spawn'
  readonly whenBusy?: 'reject' | 'queue' | 'interrupt' | undefined
  readonly trace?: TraceContext | undefined
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
  readonly #queue = new PromptQueue()
  #draining: Promise<void> | undefined
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
  end(): void {
    this.#over = true
    this.#queue.stop()
  }

  /**
   * Reserves the turn, logs the prompt, and hands it to the agent; or lets it wait, as `whenBusy` says.
   * @returns number of the turn
   * @throws `turn_in_progress`, `queue_full`, `storage_failed`
   */
  async prompt(content: readonly ContentBlock[], { origin, whenBusy, trace }: PromptOrigin): Promise<number> {
    if (!this.#isBusy()) return this.#begin({ content, origin, trace })
    if (whenBusy === 'queue') return this.#enqueue({ content, trace, interrupting: false })
    if (whenBusy !== 'interrupt') throw inProgress(this.#options.turns)
    // Its place is taken in this very step, behind what the interrupt stops and before anybody else.
    const stopped = this.interrupt()
    const number = this.#enqueue({ content, trace, interrupting: true })
    await stopped
    return number
  }

  /** Prompts that wait. */
  get queue(): Pick<PromptQueue, 'length' | 'turn'> {
    return this.#queue
  }

  /**
   * Ends the running turn and stops what waits for it; resolves once its `turn-end` is logged. Idempotent.
   * @param only Number of the turn that is meant alone, running or queued
   */
  async interrupt(only?: number): Promise<Interrupted> {
    const { config, turns } = this.#options
    if (only !== undefined && only !== turns.current?.number)
      return this.#queue.withdraw(only - turns.count) ? { wasBusy: true, sent: false } : { wasBusy: false }
    if (only === undefined) this.#queue.stop()
    const { interruptGraceMs: graceMs } = config
    return this.#stop(graceMs, `The agent did not end its turn within ${graceMs} ms of being interrupted`)
  }

  /** Ends a turn that has been silent for too long; its `turn-end` says `timeout`. */
  async cancelSilent(idleMs: number): Promise<void> {
    this.#timedOut = this.#options.turns.current?.number
    const { cancelGraceMs } = this.#options.config
    const summary = `The turn was silent for ${idleMs} ms and did not end within ${cancelGraceMs} ms of being cancelled`
    this.#queue.stop()
    await this.#stop(cancelGraceMs, summary)
  }

  /** Goes on with what waits, when no turn runs. Resolves once a turn runs or nothing waits. */
  drain(): Promise<void> {
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined
    })
    return this.#draining
  }

  /** Closes a turn that the agent left open. */
  async close(reason: Extract<TurnEndReason, 'cancelled' | 'error' | 'timeout'>, error?: TurnError): Promise<void> {
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
    if (error !== undefined) entries.push({ type: 'error', ...error })
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

  async #begin(admission: Admission): Promise<number> {
    const { log, turns, preface: pending } = this.#options
    // The end of the session may have come while this prompt waited for another turn's.
    if (this.#over) throw new AgentprotoError('session_ended', 'The session ended before the prompt was sent')
    const prompt = admitted(admission, pending())
    this.#reserved = true
    try {
      // Nothing is awaited between the look at the next number and the append that takes it.
      const { number } = turns.begin(prompt, log.nextSeq, log.now())
      this.#open = number
      await this.#admit(prompt, number)
      this.#sending = this.#send(number, { content: contentFor(prompt), trace: admission.trace }, this.#sending)
      return number
    } finally {
      this.#reserved = false
    }
  }

  #enqueue(prompt: Pick<WaitingPrompt, 'content' | 'trace' | 'interrupting'>): number {
    const { turns, log } = this.#options
    this.#queue.add({ ...prompt, queuedAt: log.now() })
    this.#queueChanged()
    // While a prompt is being reserved its turn is counted already.
    return turns.count + this.#queue.length
  }

  #queueChanged(): void {
    this.#options.turns.queued = this.#queue.length
    this.#options.onQueue()
  }

  async #drain(): Promise<void> {
    const { turns } = this.#options
    while (turns.current === undefined) {
      const next = this.#queue.take()
      if (next === undefined) return
      this.#queueChanged()
      try {
        if (next.stopped) await this.#skip(next)
        else await this.#begin({ content: next.content, origin: 'queue', waited: next, trace: next.trace })
      } catch {
        await this.#refused(next)
      }
    }
  }

  /** A log that cannot be written ends the session; what waits goes with it. */
  #refused(prompt: WaitingPrompt): Promise<void> {
    this.#queue.putBack(prompt)
    this.#queue.stop()
    this.#queueChanged()
    const message = 'A queued prompt could not be logged'
    return this.#options.log.appendOrEnd([{ type: 'runtime-warning', message }])
  }

  /** A prompt that was stopped while it waited has its turn, so that its number is never another's. */
  async #skip({ content, queuedAt }: WaitingPrompt): Promise<void> {
    const { log, turns } = this.#options
    const prompt: UserPrompt = { type: 'user-prompt', content, origin: 'queue', queuedAt, sent: false }
    const { number } = turns.begin(prompt, log.nextSeq, log.now())
    // Its end is on its way, so that nobody ends it once more.
    await this.#ends(log.appendOrApply([prompt, { type: 'turn-end', reason: 'cancelled', empty: true }], number))
  }

  async #stop(graceMs: number, summary: string): Promise<Interrupted> {
    const { turns, desk, clock, onStuck } = this.#options
    const turn = turns.current
    this.#cancelled = turn?.number
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
      // Nobody else goes on with what began to wait for this turn meanwhile.
      if (this.#queue.length > 0) void this.drain()
      throw error
    }
  }

  /** Runs one turn to its end; whatever the agent does, the turn gets its `turn-end`. */
  async #send(turn: number, prompt: Pick<Admission, 'content' | 'trace'>, previous: Promise<void>): Promise<void> {
    await previous
    await this.#run(turn, prompt)
    await this.drain()
  }

  async #run(turn: number, { content, trace }: Pick<Admission, 'content' | 'trace'>): Promise<void> {
    // A prompt of a stopped generation is never sent (failure mode 18).
    if (this.#cancelled === turn) return this.close('cancelled')
    // Its session ended while the prompt was being logged.
    if (this.#open !== turn) return
    this.#options.onSend()
    try {
      await this.#agent?.send(content, trace)
    } catch (error) {
      return this.close('error', { message: messageOf(error) })
    }
    if (this.#options.turns.current?.number === turn)
      await this.close('error', { message: 'The agent settled the prompt without ending its turn' })
  }
}

/** A turn that was cancelled for its silence has timed out, whatever the agent calls its end. */
const asTimeout = (signal: AgentSignal): AgentSignal =>
  signal.type === 'turn-end' && signal.reason === 'cancelled' ? { ...signal, reason: 'timeout' } : signal
