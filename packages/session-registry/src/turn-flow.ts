import {
  type AgentAnswer,
  AgentprotoError,
  type AgentRequest,
  type AgentSignal,
  type AgentSink,
  type Clock,
  type ContentBlock,
  type RunningAgent,
  type TurnEndReason,
} from '@agentproto/contracts'
import { type Ending, failureOf } from './ending.js'
import type { LogEntry } from './event-record.js'
import type { RequestDesk } from './request-desk.js'
import type { SessionLog } from './session-log.js'
import type { TurnBook } from './turn-book.js'

/** One turn at a time: admission, what the agent says meanwhile, interruption, and an end in any case. */

export interface TurnFlowOptions {
  readonly log: SessionLog
  readonly turns: TurnBook
  readonly desk: RequestDesk
  readonly clock: Clock
  readonly interruptGraceMs: number
  /** Ends the session whose agent does not end its turn. */
  readonly onStuck: (ending: Ending) => void
}

export class TurnFlow {
  readonly #options: TurnFlowOptions
  #agent: RunningAgent | undefined
  /** Taken before anything is awaited, so that of two prompts at once one is refused. */
  #reserved = false
  /** Number of the turn that takes stream events: from its admission until its end was seen. */
  #open: number | undefined
  #cancelled: number | undefined
  #sending: Promise<void> = Promise.resolve()

  constructor(options: TurnFlowOptions) {
    this.#options = options
  }

  attach(agent: RunningAgent): void {
    this.#agent = agent
  }

  /**
   * Reserves the turn, logs the prompt, and hands it to the agent.
   * @returns number of the turn
   * @throws `turn_in_progress`, `storage_failed`
   */
  async prompt(content: readonly ContentBlock[], origin: 'prompt' | 'spawn'): Promise<number> {
    const { log, turns } = this.#options
    if (this.#reserved || turns.current !== undefined) throw inProgress(turns)
    this.#reserved = true
    try {
      // Nothing is awaited between the look at the next number and the append that takes it.
      const { number } = turns.begin(log.nextSeq, log.now())
      this.#open = number
      await this.#admit({ type: 'user-prompt', content, origin }, number)
      this.#sending = this.#send(number, content, this.#sending)
      return number
    } finally {
      this.#reserved = false
    }
  }

  /** Ends the running turn; resolves once its `turn-end` is logged. Idempotent. */
  async interrupt(): Promise<{ readonly wasBusy: boolean }> {
    const { turns, desk, clock, interruptGraceMs, onStuck } = this.#options
    const turn = turns.current
    if (turn === undefined || this.#agent === undefined) return { wasBusy: false }
    this.#cancelled = turn.number
    const ended = turns.wait(turn.number)
    const grace = clock.after(interruptGraceMs, () => {
      const summary = `The agent did not end its turn within ${interruptGraceMs} ms of being interrupted`
      onStuck({ status: 'killed', stopReason: 'timeout', failure: failureOf('timeout', summary) })
    })
    await desk.cancelAll({ type: 'turn-end' })
    // A cancel that fails is a dying agent, which ends the turn by itself; the grace covers the rest.
    await this.#agent.cancel().catch(() => undefined)
    await ended
    grace.cancel()
    return { wasBusy: true }
  }

  /** Closes a turn that the agent left open. */
  async close(reason: Extract<TurnEndReason, 'cancelled' | 'error' | 'timeout'>, message?: string): Promise<void> {
    const { turns, desk, log } = this.#options
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
    await desk.cancelAll({ type: 'turn-end' })
    await log.appendOrApply(entries, turn.number)
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
    // Without a pending request this does nothing, and the turn's last events go out in this very step.
    if (desk.pendingCount > 0) return this.#emitEnd(batch, end, turn)
    const within = log.appendOrEnd(batch.slice(0, end + 1), turn)
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
    // A prompt of a stopped generation is never sent (failure mode 18).
    if (this.#cancelled === turn) return this.close('cancelled')
    try {
      await this.#agent?.send(content)
    } catch (error) {
      return this.close('error', error instanceof Error ? error.message : String(error))
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

const STREAM: ReadonlySet<string> = new Set(['text-delta', 'thought', 'tool-call', 'tool-result', 'turn-end'])

/** What an agent says of a turn when none is open is kept, but not as a part of a turn. */
function outsideTurn(signal: AgentSignal): LogEntry {
  return STREAM.has(signal.type) ? { type: 'extension', kind: `stray-${signal.type}`, payload: signal } : signal
}
