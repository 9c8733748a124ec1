import {
  type AnsweredBy,
  type ConfigRequest,
  type ContentBlock,
  type Interrupted,
  isLive,
  type ProcessExit,
  type RunningAgent,
  type Session,
  type SessionEvent,
  type StoredSession,
  type StoredSpawn,
} from '@agentproto/contracts'
import { Conversation, type Starting } from './lifecycle/conversation.js'
import { endChildren } from './lifecycle/end-all.js'
import {
  type Ending,
  endedError,
  endingOf,
  endingOfStart,
  messageOf,
  startingError,
  turnEndOf,
} from './lifecycle/ending.js'
import { changesOf, withChange } from './configure.js'
import type { LogEntry } from './log/event-record.js'
import { isSignOfLife, isUrgent } from './log/event-weight.js'
import type { HostedSession } from './hosted-session.js'
import { endOfRun } from './lifecycle/session-end.js'
import { assertTransition } from './lifecycle/lifecycle.js'
import { fitMode } from './permissions/agent-mode.js'
import type { SessionPermissions } from './permissions/session-permissions.js'
import type { RequestDesk } from './requests/request-desk.js'
import type { Prefaces } from './turns/prefaces.js'
import { isResumable, resumptionOf, type Waking } from './lifecycle/resume.js'
import type { SessionJournal } from './session-journal.js'
import type { SessionLog } from './log/session-log.js'
import type { SessionHost } from './session-host.js'
import { SessionStart } from './lifecycle/session-start.js'
import { sessionParts } from './session-parts.js'
import type { SessionRecord } from './records/session-record.js'
import type { Supervisor } from './lifecycle/supervisor.js'
import type { TurnBook } from './turns/turn-book.js'
import type { PromptOrigin, TurnFlow } from './turns/turn-flow.js'

/** One session: its record, log, turns and requests, and the agent from its start to its end. */
export class ManagedSession implements HostedSession {
  readonly id: string
  readonly journal: SessionJournal
  readonly turns: TurnBook
  readonly desk: RequestDesk
  readonly permissions: SessionPermissions
  readonly #flow: TurnFlow
  readonly #prefaces: Prefaces
  readonly #log: SessionLog
  readonly #host: SessionHost
  readonly #record: SessionRecord
  #spawn: StoredSpawn
  readonly #start: SessionStart
  readonly #supervisor: Supervisor
  readonly #conversation: Conversation
  #agent: RunningAgent | undefined
  #cause: Ending | undefined
  #ending: Promise<void> | undefined

  constructor(host: SessionHost, stored: StoredSession) {
    this.id = stored.session.id
    this.#host = host
    this.#start = new SessionStart(host.clock)
    this.#spawn = stored.spawn
    const parts = sessionParts(host, stored, {
      snapshot: () => this.snapshot(),
      kill: (ending) => this.kill(ending),
      // A session that cannot be ended says so itself, in its warnings.
      end: (ending) => void this.#end(ending).catch(() => undefined),
      follow: (events) => this.#follow(events),
      changed: (urgent) => host.onChange(this, urgent),
      unread: () => host.onUnread(this),
    })
    this.#record = parts.record
    this.#log = parts.log
    this.#flow = parts.flow
    this.#prefaces = parts.prefaces
    const { log, prefaces } = parts
    this.#conversation = new Conversation({ host, session: this, log, prefaces, startedAt: stored.agentStartedAt })
    this.#supervisor = parts.supervisor
    this.turns = parts.turns
    this.desk = parts.desk
    this.permissions = parts.permissions
    this.journal = parts.journal
  }

  /** From the moment that a start is asked for, before its log has it. */
  get isLive(): boolean {
    return this.#start.isAgain || isLive(this.#record)
  }

  get isEnding(): boolean {
    return this.#cause !== undefined
  }

  /** Whether its record holds all that is known of it, so that nothing is lost when it is dropped from memory. */
  get mayRest(): boolean {
    return !this.isLive && this.#ending === undefined && this.#start.failures === 0
  }

  snapshot(): Session {
    const { length: queuedPrompts } = this.#flow.queue
    return this.#record.snapshot({
      pendingRequests: this.desk.pendingCount,
      lastSeq: this.journal.lastSeq,
      ...(queuedPrompts === 0 ? {} : { queuedPrompts }),
    })
  }

  get queue(): TurnFlow['queue'] {
    return this.#flow.queue
  }

  stored(): StoredSession {
    return {
      version: 1,
      session: this.snapshot(),
      turns: this.turns.all.slice(-50),
      requests: this.desk.all,
      ...(this.permissions.own.length === 0 ? {} : { rules: this.permissions.own }),
      spawn: this.#spawn,
      ...(this.#start.isAgain && { starting: true }),
      ...(this.#conversation.startedAt === undefined ? {} : { agentStartedAt: this.#conversation.startedAt }),
      ...(this.#agent?.process === undefined || !this.isLive ? {} : { process: this.#agent.process }),
    }
  }

  /** Starts the agent. Rejects with the cause after the session has become `error`. */
  start(starting: Starting): Promise<void> {
    return this.#start.first(() => this.#launch(starting))
  }

  /**
   * Starts the agent of a session that has ended, in its old conversation or in a new one.
   * @throws `session_live`, `not_resumable`, `continuation_unsupported`, and what the start throws
   */
  async resume(request: Waking, trace: Starting['trace']): Promise<void> {
    if (this.#start.isAgain) throw startingError()
    const resumption = resumptionOf(this.snapshot(), this.#spawn, request)
    if (resumption.how !== 'fresh') this.#start.assertDue(request)
    this.#cause = undefined
    if (resumption.how === 'fresh') this.permissions.forgetOnce()
    await this.#start.again(() => this.#launch({ ...resumption, trace }))
    this.#record.resumed(resumption.how)
    this.#host.onChange(this, true)
  }

  /** See {@link SessionService.prompt}. */
  async prompt(content: readonly ContentBlock[], origin: PromptOrigin): Promise<number> {
    this.#assertRunning()
    return this.#flow.prompt(content, origin)
  }

  /** See {@link SessionService.configure}. */
  async configure(request: ConfigRequest, by: AnsweredBy): Promise<void> {
    const changes = changesOf(request)
    if (changes.length > 0) this.#assertRunning()
    if (request.permissionMode !== undefined) await this.#setPermissionMode(request.permissionMode, by)
    for (const change of changes) {
      await this.#agent?.configure(change)
      this.#spawn = withChange(this.#spawn, change)
    }
  }

  /** See {@link SessionService.interrupt}. */
  interrupt(turn?: number): Promise<Interrupted> {
    return this.#flow.interrupt(turn)
  }

  /**
   * Ends the session; resolves once nothing of the agent lives.
   * @throws `termination_failed`; the session is not ended then
   */
  async kill(ending: Ending): Promise<{ readonly ok: boolean }> {
    if (!this.isLive) return { ok: false }
    this.#cause ??= ending
    if (this.#isStarting) this.#start.abort()
    await this.#start.over()
    await this.#end(ending)
    return { ok: true }
  }

  replay(event: SessionEvent): void {
    if (event.type === 'user-prompt') this.turns.begin(event, event.seq, event.ts)
    this.#record.apply(event)
    this.#prefaces.replay(event)
    this.turns.follow(event)
    this.desk.replay(event)
    this.permissions.replay(event)
  }

  readonly correct = (session: Session): void => this.#record.correct(session)

  /** Appends what a repair at boot found to be missing. */
  async appendRepair(entries: readonly LogEntry[], turn?: number): Promise<void> {
    await this.#log.repair((await this.journal.open()).spine, entries, turn)
  }

  async #launch(starting: Starting): Promise<void> {
    this.#agent = undefined
    try {
      this.desk.begins()
      // Before the log has the start: at boot the logs of ended sessions are not read.
      await this.#host.keep(this)
      this.#log.attach((await this.journal.open()).spine)
      const { status } = this.#record
      await this.#log.append([
        { type: 'status', status: 'starting', ...(status === 'starting' ? {} : { previous: status }) },
      ])
      const { signal } = this.#start
      const agent = await this.#conversation.start(this.#spawn, { ...starting, sink: this.#flow.sink, signal })
      this.#agent = agent
      this.#flow.attach(agent)
      this.#record.started(agent, isResumable(agent.info.capabilities, this.#spawn))
      this.#record.warn(await fitMode(agent, this.snapshot(), this.#spawn))
      // Of a former run's agent nothing ends this one.
      const ended = agent.ended.then((end) => (this.#agent === agent ? this.#end(endingOf(end)) : undefined))
      void ended.catch(() => undefined)
      await this.#conversation.restore(agent, this.#spawn)
      assertTransition(this.#record.status, 'running')
      await this.#log.append([{ type: 'status', status: 'running', previous: 'starting' }])
      this.#supervisor.start()
    } catch (error) {
      await this.#end(endingOfStart(error))
      throw error
    }
  }

  /** In the log of a live session only: after its end nothing is said but by a resume. */
  async #setPermissionMode(permissionMode: Session['permissionMode'], by: AnsweredBy): Promise<void> {
    await this.#start.over()
    if (this.isLive) await this.#log.append([{ type: 'config', config: {}, permissionMode, by }])
    this.#record.permissionMode = permissionMode
    await this.desk.review()
    if (this.#agent && this.isLive) this.#record.warn(await fitMode(this.#agent, this.snapshot(), this.#spawn))
    this.#host.onChange(this, true)
  }

  get #isStarting(): boolean {
    return this.#start.isAgain || this.#record.status === 'starting'
  }

  #assertRunning(): void {
    if (this.#isStarting) throw startingError()
    if (this.#record.status !== 'running' || this.#cause !== undefined) throw endedError(this.#record.status)
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
    if (!isLive(this.#record)) return
    this.#supervisor.stop()
    const children = endChildren(this.#host, this.id, cause)
    // The agent takes its requests back as it ends; whoever decided that it ends is why.
    this.desk.ends({ type: cause.stopReason === 'shutdown' ? 'gateway-end' : 'session-end' })
    this.#flow.end()
    const exit = await this.#stopAgent()
    await children
    this.#record.disconnected()
    await this.#flow.close(...turnEndOf(cause))
    await this.#flow.drain()
    await this.desk.cancelAll({ type: 'session-end' })
    const facts = { session: this.snapshot(), process: this.#agent?.process, exit, at: this.#log.now() }
    await this.#log.appendOrApply(await endOfRun(cause, this.#host, facts))
    await this.journal.settle()
  }

  async #stopAgent(): Promise<ProcessExit> {
    try {
      return (await this.#agent?.stop()) ?? {}
    } catch (error) {
      // Something of it still lives, so the session may not be called ended; a further kill tries again.
      const message = messageOf(error)
      this.#record.disconnected()
      this.#record.warn(message)
      this.#cause = undefined
      this.desk.begins()
      await this.#log.appendOrApply([{ type: 'runtime-warning', message }])
      throw error
    }
  }

  /** A turn begins or ends. */
  #turned(event: SessionEvent): void {
    this.#prefaces.follow(event)
    if (event.type === 'user-prompt') return this.#supervisor.turnBegan()
    this.#supervisor.turnEnded()
    const { maxTurns = Infinity } = this.#spawn.policy ?? {}
    // The session's last turn is whole before the session ends: its waiters have been told.
    if (this.#record.sentTurns < maxTurns) return
    this.#record.exhausted()
    void this.kill({ status: 'killed', stopReason: 'max_iterations' }).catch(() => undefined)
  }

  #follow(events: readonly SessionEvent[]): void {
    for (const event of events) {
      this.#record.apply(event)
      this.turns.follow(event)
      if (event.type === 'user-prompt' || event.type === 'turn-end') this.#turned(event)
    }
    if (isSignOfLife(events)) this.#supervisor.active()
    const urgent = events.some(isUrgent)
    this.#host.onEvents?.(events, urgent)
    this.#host.onChange(this, urgent)
  }
}
