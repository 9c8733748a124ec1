import {
  type AgentAnswer,
  AgentprotoError,
  type AgentRequest,
  type AgentSignal,
  type Clock,
  type ContentBlock,
  type EventLogStore,
  isLive,
  type NewId,
  type RunningAgent,
  type Session,
  type StartAgent,
  type StartAgentOptions,
  type StoredSession,
  type StoredSpawn,
} from '@agentproto/contracts'
import { type Ending, endedError, endingOf, endingOfStart, endingOfStorage, failureOf } from './ending.js'
import { eventOf, type LiveRecord, type LogEntry } from './event-record.js'
import { assertTransition } from './lifecycle.js'
import type { RegistryConfig } from './registry-config.js'
import { RequestDesk } from './request-desk.js'
import { SessionJournal } from './session-journal.js'
import { SessionRecord } from './session-record.js'
import type { Spine } from './spine.js'
import { TurnBook } from './turn-book.js'

/** One session: its record, log, turns and requests, and the agent while it runs. */

/** What all sessions of a registry share. */
export interface SessionHost {
  readonly clock: Clock
  readonly newId: NewId
  readonly logs: EventLogStore
  readonly startAgent: StartAgent
  readonly config: RegistryConfig
  readonly redact?: (text: string) => string
  /** `urgent` changes are stored and told at once, others when they have piled up. */
  readonly onChange: (session: ManagedSession, urgent: boolean) => void
}

export class ManagedSession {
  readonly id: string
  readonly journal: SessionJournal
  readonly turns: TurnBook
  readonly desk: RequestDesk
  readonly #host: SessionHost
  readonly #record: SessionRecord
  readonly #spawn: StoredSpawn
  readonly #startAbort = new AbortController()
  #agent: RunningAgent | undefined
  /** Of a session that has been started by this host. */
  #spine: Spine | undefined
  #starting: Promise<void> | undefined
  /** Number of the turn that takes stream events: from its admission until its end was seen. */
  #openTurn: number | undefined
  /** Taken before anything is awaited, so that of two prompts at once one is refused. */
  #reserved = false
  #cancelledTurn: number | undefined
  #sending: Promise<void> = Promise.resolve()
  #cause: Ending | undefined
  #ending: Promise<void> | undefined

  constructor(host: SessionHost, stored: StoredSession) {
    const { session } = stored
    this.id = session.id
    this.#host = host
    this.#record = new SessionRecord(session)
    this.#spawn = stored.spawn
    this.turns = new TurnBook(stored.turns, session.turnCount)
    this.desk = new RequestDesk(
      {
        sessionId: session.id,
        clock: host.clock,
        newId: host.newId,
        mode: session.permissionMode,
        roots: [session.cwd, ...(session.additionalDirectories ?? [])],
        timeoutMs: host.config.requestTimeoutMs,
        append: (entry, turn) => this.#appendOrEnd([entry], turn),
        onChange: () => {
          this.#record.awaiting(this.desk.pendingCount > 0)
          host.onChange(this, true)
        },
      },
      stored.requests.filter(({ state }) => state === 'resolved'),
    )
    this.journal = new SessionJournal(
      {
        sessionId: session.id,
        logs: host.logs,
        clock: host.clock,
        ...(host.redact === undefined ? {} : { redact: host.redact }),
        turnStart: (seq) => this.turns.startOf(seq),
        restoreFrom: () => this.turns.all.at(-3)?.firstSeq ?? 1,
        isLive: () => this.isLive,
        onStored: (batch) => this.#onStored(batch),
      },
      session.lastSeq,
    )
  }

  get isLive(): boolean {
    return isLive(this.#record)
  }

  snapshot(): Session {
    return this.#record.snapshot({ pendingRequests: this.desk.pendingCount, lastSeq: this.journal.lastSeq })
  }

  /** The record as it is stored. */
  stored(): StoredSession {
    return {
      version: 1,
      session: this.snapshot(),
      turns: this.turns.all.slice(-50),
      requests: this.desk.all,
      spawn: this.#spawn,
      ...(this.#agent?.process === undefined || !this.isLive ? {} : { process: this.#agent.process }),
    }
  }

  /** Starts the agent. Rejects with the cause after the session has become `error`. */
  start(options: Omit<StartAgentOptions, 'signal'>): Promise<void> {
    this.#starting = this.#start(options)
    return this.#starting
  }

  /** Reserves the turn, logs the prompt, and hands it to the agent. See {@link SessionService.prompt}. */
  async prompt(content: readonly ContentBlock[], origin: 'prompt' | 'spawn'): Promise<number> {
    this.#assertPromptable()
    this.#reserved = true
    try {
      // Nothing is awaited between the look at the next number and the append that takes it.
      const turn = this.turns.begin(this.#live().nextSeq, new Date(this.#host.clock.now()).toISOString())
      this.#openTurn = turn.number
      await this.#admit({ type: 'user-prompt', content, origin }, turn.number)
      this.#sending = this.#send(turn.number, content, this.#sending)
      return turn.number
    } finally {
      this.#reserved = false
    }
  }

  /** See {@link SessionService.interrupt}. */
  async interrupt(): Promise<{ readonly wasBusy: boolean }> {
    const turn = this.turns.current
    const agent = this.#agent
    if (turn === undefined || agent === undefined) return { wasBusy: false }
    this.#cancelledTurn = turn.number
    const ended = this.turns.wait(turn.number)
    const grace = this.#host.clock.after(this.#host.config.interruptGraceMs, () => {
      const summary = `The agent did not end its turn within ${this.#host.config.interruptGraceMs} ms of being interrupted`
      void this.#end({ status: 'killed', stopReason: 'timeout', failure: failureOf('timeout', summary) })
    })
    await this.desk.cancelAll({ type: 'turn-end' })
    // A cancel that fails is a dying agent, which ends the turn by itself; the grace covers the rest.
    await agent.cancel().catch(() => undefined)
    await ended
    grace.cancel()
    return { wasBusy: true }
  }

  /** Ends the session; resolves once nothing of the agent lives. */
  async kill(ending: Ending): Promise<{ readonly ok: boolean }> {
    if (!this.isLive) return { ok: false }
    this.#cause ??= ending
    if (this.#record.status === 'starting' && this.#starting !== undefined) {
      this.#startAbort.abort()
      await this.#starting.catch(() => undefined)
    }
    await this.#end(ending)
    return { ok: true }
  }

  /** Appends what a repair at boot found to be missing. */
  async appendRepair(entries: readonly { readonly entry: LogEntry; readonly turn?: number }[]): Promise<void> {
    const { spine } = await this.journal.open()
    for (const { entry, turn } of entries) await spine.append([entry], turn)
  }

  async #start(options: Omit<StartAgentOptions, 'signal'>): Promise<void> {
    try {
      this.#spine = (await this.journal.open()).spine
      await this.#spine.append([{ type: 'status', status: 'starting' }])
      const sink = { emit: this.#emit, ask: this.#ask }
      const agent = await this.#host.startAgent({ ...options, signal: this.#startAbort.signal }, sink)
      this.#agent = agent
      this.#record.started(agent)
      void agent.ended.then((end) => this.#end(endingOf(end)))
      assertTransition(this.#record.status, 'running')
      await this.#appendOrEnd([{ type: 'status', status: 'running', previous: 'starting' }])
    } catch (error) {
      await this.#end(endingOfStart(error))
      throw error
    }
  }

  #assertPromptable(): void {
    this.#assertRunning()
    if (!this.#reserved && this.turns.current === undefined) return
    throw new AgentprotoError('turn_in_progress', `Turn ${this.turns.current?.number ?? this.turns.count + 1} of the session is in progress`, {
      hint: 'Wait for its turn-end, or interrupt it',
      data: { turn: this.turns.current?.number ?? this.turns.count + 1 },
    })
  }

  #assertRunning(): void {
    if (this.#record.status === 'running' && this.#cause === undefined) return
    if (this.#record.status === 'starting') throw new AgentprotoError('session_starting', 'The session is still starting', { hint: 'Wait until its status is running' })
    throw endedError(this.#record.status)
  }

  async #admit(prompt: LogEntry, turn: number): Promise<void> {
    try {
      await this.#live().append([prompt], turn)
    } catch (error) {
      this.turns.abandon()
      this.#openTurn = undefined
      throw error
    }
  }

  /** Runs one turn to its end; whatever the agent does, the turn gets its `turn-end`. */
  async #send(turn: number, content: readonly ContentBlock[], previous: Promise<void>): Promise<void> {
    await previous
    if (this.#cancelledTurn === turn) return this.#endTurn('cancelled')
    try {
      await this.#agent?.send(content)
    } catch (error) {
      return this.#endTurn('error', error instanceof Error ? error.message : String(error))
    }
    if (this.turns.current?.number === turn) await this.#endTurn('error', 'The agent settled the prompt without ending its turn')
  }

  /** One batch of the agent. The returned promise holds the agent's output back until it is logged. */
  readonly #emit = (batch: readonly AgentSignal[]): Promise<void> => {
    const turn = this.#openTurn
    const end = batch.findIndex(({ type }) => type === 'turn-end')
    if (turn === undefined) return this.#appendOrEnd(batch.map(outsideTurn))
    if (end < 0) return this.#appendOrEnd(batch, turn)
    this.#openTurn = undefined
    void this.desk.cancelAll({ type: 'turn-end' })
    const within = this.#appendOrEnd(batch.slice(0, end + 1), turn)
    return end + 1 === batch.length ? within : this.#appendOrEnd(batch.slice(end + 1).map(outsideTurn))
  }

  readonly #ask = (request: AgentRequest, signal: AbortSignal): Promise<AgentAnswer> =>
    this.#openTurn === undefined || this.#cancelledTurn === this.#openTurn
      ? Promise.resolve({ outcome: 'cancelled' })
      : this.desk.ask(request, this.#openTurn, signal)

  /** Closes a turn that the agent left open. */
  async #endTurn(reason: 'cancelled' | 'error' | 'timeout', message?: string): Promise<void> {
    const turn = this.turns.current
    if (turn === undefined) return
    const entries: LogEntry[] = this.turns.openTools.map((toolCallId) => ({ type: 'tool-result', toolCallId, status: 'interrupted' }))
    if (message !== undefined) entries.push({ type: 'error', message })
    entries.push({ type: 'turn-end', reason, ...(this.turns.produced ? {} : { empty: true }) })
    this.#openTurn = undefined
    await this.desk.cancelAll({ type: 'turn-end' })
    await this.#appendOrApply(entries, turn.number)
  }

  #end(ending: Ending): Promise<void> {
    this.#cause ??= ending
    this.#ending ??= this.#finish(this.#cause).finally(() => {
      this.#ending = undefined
    })
    return this.#ending
  }

  /** The one way out: the process tree is gone, the turn is ended, then the status changes. */
  async #finish(cause: Ending): Promise<void> {
    if (!this.isLive) return
    const exit = await this.#stopAgent()
    this.#record.disconnected()
    const reason = cause.stopReason === 'timeout' ? 'timeout' : cause.status === 'killed' ? 'cancelled' : 'error'
    await this.#endTurn(reason, reason === 'cancelled' ? undefined : cause.failure?.summary)
    await this.desk.cancelAll({ type: 'session-end' })
    const previous = this.#record.status
    // A start that was killed never ran: its table has only one way out.
    const status = previous === 'starting' ? 'error' : cause.status
    assertTransition(previous, status)
    const code = exit?.exitCode === undefined ? {} : { exitCode: exit.exitCode }
    const signal = exit?.signal === undefined ? {} : { signal: exit.signal }
    await this.#appendOrApply([
      { type: 'status', status, previous, ...code },
      { type: 'session-stopped', ...cause, status, ...code, ...signal },
    ])
    await this.journal.settle()
  }

  async #stopAgent(): Promise<{ readonly exitCode?: number; readonly signal?: string } | undefined> {
    try {
      return await this.#agent?.stop()
    } catch (error) {
      // Something of it still lives, so the session may not be called ended; a further kill tries again.
      const message = error instanceof Error ? error.message : String(error)
      this.#record.disconnected()
      this.#record.warn(message)
      this.#cause = undefined
      await this.#appendOrApply([{ type: 'runtime-warning', message }])
      throw error
    }
  }

  #live(): Spine {
    if (this.#spine === undefined) throw new AgentprotoError('internal', 'The log of the session is not open')
    return this.#spine
  }

  async #appendOrEnd(entries: readonly LogEntry[], turn?: number): Promise<void> {
    try {
      await this.#live().append(entries, turn)
    } catch (error) {
      void this.#end(endingOfStorage(error)).catch(() => undefined)
    }
  }

  /** For what must take effect although the log cannot be written: waiters and status stay truthful. */
  async #appendOrApply(entries: readonly LogEntry[], turn?: number): Promise<void> {
    try {
      await this.#live().append(entries, turn)
    } catch {
      const ts = new Date(this.#host.clock.now()).toISOString()
      const unlogged = { seq: this.journal.lastSeq, ts, sessionId: this.id, ...(turn === undefined ? {} : { turn }) }
      this.#follow(entries.map((entry) => ({ ...unlogged, ...entry }) as ReturnType<typeof eventOf>))
    }
  }

  #onStored(batch: readonly LiveRecord[]): void {
    this.#follow(batch.map(({ event }) => event))
  }

  #follow(events: readonly ReturnType<typeof eventOf>[]): void {
    let urgent = false
    for (const event of events) {
      this.#record.apply(event)
      this.turns.follow(event)
      urgent ||= URGENT.has(event.type)
    }
    this.#host.onChange(this, urgent)
  }
}

const URGENT: ReadonlySet<string> = new Set(['status', 'session-stopped', 'user-prompt', 'turn-end', 'title', 'config'])
const STREAM: ReadonlySet<string> = new Set(['text-delta', 'thought', 'tool-call', 'tool-result', 'turn-end'])

/** What an agent says of a turn when none is open is kept, but not as a part of a turn. */
function outsideTurn(signal: AgentSignal): LogEntry {
  return STREAM.has(signal.type) ? { type: 'extension', kind: `stray-${signal.type}`, payload: signal } : (signal as LogEntry)
}
