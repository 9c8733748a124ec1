import { isLive, type PermissionMode, type Session, type SessionEvent } from '@agentproto/contracts'
import type { RunningAgent, StoredSession } from '@agentproto/contracts/agent'
import { messageOf, shuttingDown } from '../lifecycle/ending.js'
import { EventLog } from '../log/event-log.js'
import { OutputFeed } from '../output/output-feed.js'
import { SessionPermissions } from '../permissions/session-permissions.js'
import { FolderRecorder } from '../changes/folder-recorder.js'
import type { SessionHost } from '../session-host.js'
import { TurnHistory } from '../turns/turn-history.js'
import type { Spent } from '../usage/meter.js'
import { AgentRunner } from './agent-runner.js'
import type { CommandOf, Input, Replies } from './input.js'
import { changesState } from './events.js'
import { Judge } from './judge.js'
import { keptOf } from './kept-record.js'
import { joinSignals, type Mail } from './mail.js'
import { reduce } from './reduce.js'
import type { SessionHandle } from './session-handle.js'
import { SessionTimers } from './session-timers.js'
import {
  type Call,
  type Effect,
  mayHaveBudget,
  pendingRequests,
  type SessionState,
  snapshotOf,
  stateOf,
} from './state.js'

/**
 * One session: a mailbox, and the one place where its state changes. Inputs are handled one at a time: {@link reduce}
 * decides, entries are appended to the log, then the effects are carried out. What takes time (a start, a prompt, a stop)
 * comes back as another input, so that races are ordered by the mailbox.
 */
export class SessionActor implements SessionHandle {
  readonly id: string
  readonly log: EventLog
  readonly output: OutputFeed
  readonly turns: TurnHistory
  readonly permissions: SessionPermissions
  readonly #host: SessionHost
  readonly #judge: Judge
  readonly #runner: AgentRunner
  readonly #recorder: FolderRecorder
  readonly #timers: SessionTimers
  readonly #calls = new Map<Call, Caller>()
  /** Only {@link reduce} makes another one. */
  state: SessionState
  readonly #mailbox: Mail[] = []
  /** Effects of events that were stored since the last input. */
  #pending: Effect[] = []
  #isWorking = false
  /** No command is accepted any more. */
  #isLeaving = false
  #isLeft = false
  #lastCall = 0

  constructor(host: SessionHost, stored: StoredSession) {
    const { clock, logs: store, redact } = host
    const { id: sessionId, lastSeq } = stored.session
    this.id = sessionId
    this.#host = host
    this.state = stateOf(stored, host.config, { records: host.changes !== undefined })
    this.turns = new TurnHistory(stored.turns, stored.session.turnCount)
    const isOver = (): boolean => !this.isLive || this.#isLeft
    this.log = new EventLog({
      sessionId,
      store,
      clock,
      lastSeq,
      redact,
      isOver,
      onIdle: () => host.onUnread(this),
      observer: {
        effective: this.#apply.bind(this),
        // The record may have what the log has now.
        flushed: () => host.onChange(this, true),
        closed: () => this.output.closed(),
      },
    })
    if (stored.session.movedTo !== undefined) this.log.seal()
    this.output = new OutputFeed({ log: this.log, turns: this.turns, clock, isOver })
    const workspaceSlug = (): string => this.state.session.workspaceSlug
    const mode = (): PermissionMode => this.state.session.permissionMode
    const { parentSessionId } = stored.session
    const parent = (): SessionPermissions | undefined =>
      parentSessionId === undefined || !this.isLive ? undefined : host.find(parentSessionId).permissions
    const onChange = (): void => host.onChange(this, true)
    this.permissions = new SessionPermissions({ ...host, workspaceSlug, mode, parent, onChange }, stored)
    this.#timers = new SessionTimers(clock, (timer) => {
      void this.post({ type: 'timer', timer, liveChildren: host.childrenOf(this.id).length })
    })
    this.#judge = new Judge(this, host)
    this.#runner = new AgentRunner(this, host)
    this.#recorder = new FolderRecorder(this, host)
  }

  get agent(): RunningAgent | undefined {
    return this.#runner.agent
  }

  get children(): readonly SessionHandle[] {
    return this.#host.childrenOf(this.id)
  }

  /** From the moment that a start is requested until the end is logged. */
  get isLive(): boolean {
    return this.state.run.phase !== 'ended' || isLive(this.state.session)
  }

  /** Whether its record holds all that is known of it, so that nothing is lost when it is evicted. */
  get isEvictable(): boolean {
    return !this.isLive && this.state.session.failedResumes === undefined && !this.state.isRewinding
  }

  snapshot(): Session {
    return snapshotOf(this.state, this.log.lastSeq)
  }

  stored(): StoredSession {
    const { requests, spawn, run, agentStartedAt, process, meter, recording } = this.state
    const kept = keptOf(this.state)
    return {
      version: 1,
      session: this.snapshot(),
      turns: this.turns.all.slice(-STORED_TURNS),
      requests,
      ...(this.permissions.own.length === 0 ? {} : { rules: this.permissions.own }),
      spawn,
      meter,
      ...(run.phase === 'starting' && run.how !== undefined ? { starting: true } : {}),
      ...('turn' in recording ? { recording: recording.turn } : {}),
      ...(agentStartedAt === undefined ? {} : { agentStartedAt }),
      ...(process === undefined || !this.isLive ? {} : { process }),
      ...(kept === undefined ? {} : { kept }),
    }
  }

  /** Hands in an input that has no caller. Resolves when it was handled and its entries are stored. */
  post(input: Input): Promise<void> {
    return new Promise((done) => {
      this.#mailbox.push({ input, done })
      if (!this.#isWorking) void this.#work()
    })
  }

  /** Hands in a command; settles as the session answers it. @throws `shutting_down` once its agent is left to the next host */
  call<K extends keyof Replies>(type: K, command: CommandOf<K>): Promise<Replies[K]> {
    if (this.#isLeaving) return Promise.reject(shuttingDown())
    const call = (this.#lastCall += 1)
    return new Promise((resolve, reject) => {
      this.#calls.set(call, { resolve, reject })
      void this.post({ ...command, type, call } as unknown as Input)
    })
  }

  /** Resolves when no start is under way, however it went. */
  started(): Promise<void> {
    return this.#runner.starting
  }

  /** Resolves when nothing is being recorded. */
  recorded(): Promise<void> {
    return this.#recorder.idle
  }

  /**
   * Leaves a kept agent to the next host: what it emitted so far is stored, and nothing more of it is handled. Its readers come to
   * their end, without an end of the session.
   * @returns false if it was being ended before, which goes on
   */
  async leave(): Promise<boolean> {
    this.#isLeaving = true
    this.#runner.leave()
    this.#recorder.abort()
    await this.post({ type: 'leave' })
    this.#isLeft = this.#isLeaving = this.state.run.phase === 'running'
    if (!this.#isLeft) return false
    this.#timers.close()
    this.log.settle()
    return true
  }

  /** Asks the policy again about everything that waits: a rule or the mode has changed. */
  review(): Promise<void> {
    return this.#judge.review(pendingRequests(this.state))
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    while (this.#mailbox.length > 0 || this.#pending.length > 0) {
      let mail = this.#mailbox.shift()
      if (mail?.input.type === 'signals' && this.#mailbox.length > 0)
        mail = joinSignals(mail.input.batch, mail, this.#mailbox)
      try {
        if (this.#pending.length > 0) await this.#carryOut([])
        if (mail !== undefined) await this.#carryOut(this.#decide(mail.input), mail.input)
      } catch (error) {
        this.#reportDefect(error, mail?.input)
      }
      mail?.done?.()
    }
    this.#isWorking = false
  }

  /** The caller gets it, and the session goes on with its next input. */
  #reportDefect(error: unknown, input?: Input): void {
    this.#host.onProblem(`Session ${this.id}: ${messageOf(error)}`)
    if (input !== undefined && 'call' in input) this.#caller(input.call)?.reject(error)
  }

  /** What other sessions have used of a shared budget is known before each decision. */
  #decide(input: Input): readonly Effect[] {
    const standings = mayHaveBudget(this.state) ? this.#host.ledger.standingsOf(this) : this.state.standings
    if (standings === this.state.standings) return this.#reduce(input)
    return [...this.#reduce({ type: 'spent', standings }), ...this.#reduce(input)]
  }

  #reduce(input: Input): readonly Effect[] {
    const { state, effects } = reduce(this.state, input, this.#host.clock.now())
    this.state = state
    return effects
  }

  /**
   * The log reports while an append is carried out, or when it wrote by itself: the effects follow in the mailbox's turn.
   * The state comes first, so that everyone else finds the session as its log says it is.
   */
  #apply(events: readonly SessionEvent[]): void {
    const { agentSessionId } = this.#runner.agent ?? {}
    this.#pending.push(...this.#decide({ type: 'stored', events, agentSessionId }))
    if (!this.#isWorking) void this.#work()
    this.turns.effective(events)
    this.#host.onEvents?.(events, events.some(changesState))
  }

  /** In order; what the stored events of an append lead to comes before the effects after it. */
  async #carryOut(effects: readonly Effect[], input: Input = { type: 'next' }): Promise<void> {
    const due = [...this.#pending.splice(0), ...effects]
    for (let effect = due.shift(); effect !== undefined; effect = due.shift()) {
      if (effect.do === 'save') await this.#host.keep(this)
      else if (effect.do !== 'append') this.#start(effect)
      else if (effect.hold === true) await this.log.appendOrHold(effect.groups)
      else {
        try {
          await this.log.append(effect.groups)
        } catch (error) {
          const failed: Input = { type: 'write-failed', input, error }
          return this.#carryOut(this.#decide(failed), failed)
        }
      }
      due.unshift(...this.#pending.splice(0))
    }
  }

  #start(effect: Exclude<Effect, { readonly do: 'append' | 'save' }>): void {
    switch (effect.do) {
      case 'changed':
        return this.#host.onChange(this, effect.isUrgent)
      case 'reply':
        return this.#caller(effect.call)?.resolve(effect.value)
      case 'reject':
        return this.#caller(effect.call)?.reject(effect.error)
      case 'start':
        return this.#runner.start(effect)
      case 'adopt':
        return this.#runner.adopt(effect)
      case 'abort-start':
        return this.#runner.abortStart()
      case 'send':
        return void this.#runner.send(effect.turn, effect.prompt)
      case 'cancel':
        return this.#runner.cancel()
      case 'stop':
        return void this.#runner.stop(effect.cause)
      case 'judge':
        return void this.#judge.decide(effect)
      case 'record':
        return this.#recorder.record(effect.turn)
      case 'abort-recording':
        return this.#recorder.abort()
      case 'forget-once-rules':
        return this.permissions.forgetOnce()
      case 'spend':
        return this.#spend(effect.spent)
      case 'count':
        return this.#host.ledger.count(this.state.session, effect.counted)
      case 'arm':
        return this.#timers.arm(effect.timer, effect.at)
      case 'disarm':
        return this.#timers.disarm(effect.timer)
      case 'next':
        return void this.#mailbox.unshift({ input: { type: 'next' } })
      case 'settle':
        this.#host.ledger.release(this)
        return this.log.settle()
    }
  }

  /** The next input brings what is used now, so there is one; a batch may have thousands of costs. */
  #spend(spent: Spent): void {
    if (!this.#host.ledger.spend(this, spent) || this.#mailbox[0]?.input.type === 'next') return
    this.#mailbox.unshift({ input: { type: 'next' } })
  }

  #caller(call: Call): Caller | undefined {
    const caller = this.#calls.get(call)
    this.#calls.delete(call)
    return caller
  }
}

const STORED_TURNS = 50

interface Caller {
  resolve(value: unknown): void
  reject(error: unknown): void
}
