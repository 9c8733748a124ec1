import {
  type AgentAnswer,
  defined,
  type IdempotencyDigests,
  type Principal,
  type Session,
  type SessionRequest,
  type TurnResult,
} from '@agentproto/contracts'
import {
  assertMayDecideAhead,
  type ConfigRequest,
  type ForkRequest,
  type Forgotten,
  type PermissionService,
  type PromptRequest,
  type RenameRequest,
  type RequestKey,
  type ResumeRequest,
  type SessionBounds,
  type SpawnAgentRequest,
  type UsageService,
} from '@agentproto/contracts/wire'
import { Archive } from './archive/archive.js'
import { ChangeFeed } from './change-feed.js'
import { SessionChangeService } from './changes/session-changes.js'
import { assertNoAgent } from './delegation/delegation.js'
import { type Asker, foldersOf, sameRootsOf } from './delegation/root-folder.js'
import { endAll } from './lifecycle/end-all.js'
import { endingOfKill, shuttingDown } from './lifecycle/ending.js'
import { goOnAfter } from './lifecycle/repair.js'
import { assertSessionRoom } from './lifecycle/session-limit.js'
import type { ResumeCall } from './lifecycle/resume.js'
import { assertThisHost } from './lifecycle/this-host.js'
import { SessionStarts } from './lifecycle/session-starts.js'
import { loadSessions } from './moves/load-sessions.js'
import { RunGuard } from './moves/run-guard.js'
import { Moves } from './moves/session-moves.js'
import { permissionService, reviewAll } from './permissions/permission-service.js'
import { RecordSaver } from './record-saver.js'
import { sessionNotFound } from './records/session-id.js'
import { pageOf } from './records/session-page.js'
import type { CloseOptions, SessionRegistry, SessionRegistryOptions } from './registry-options.js'
import { Renaming } from './renaming.js'
import { RepeatedCalls } from './repeated-calls.js'
import { answerRequest } from './requests/answer-request.js'
import { waitingIn } from './requests/waiting.js'
import type { SessionActor } from './session/actor.js'
import { asOfNow } from './session/as-of-now.js'
import { configureSession } from './session/configure.js'
import { contentOf, isKept } from './session/state.js'
import { SessionCache } from './session-cache.js'
import { type SessionHost, withDefaults } from './session-host.js'
import { readTurn, readTurnDetail, readTurns } from './turns/turn-log.js'
import { UsageLedger } from './usage/usage-ledger.js'
import { usageService } from './usage/usage-report.js'
import { SessionWorktreeService } from './worktrees/worktree-service.js'

/**
 * Opens AIP-46's registry, the one service that HTTP, MCP and the CLI use: loads what is stored, ends and repairs what a
 * dead host left live.
 * @throws `storage_failed`
 */
export async function openSessionRegistry(options: SessionRegistryOptions): Promise<SessionRegistry> {
  const registry = new Registry(options)
  try {
    await registry.load()
  } catch (error) {
    await registry.close().catch(() => undefined)
    throw error
  }
  return registry
}

/** A map of session ids to actors, and the operations on them. */
class Registry implements SessionRegistry {
  readonly permissions: PermissionService
  readonly archive: Archive
  readonly usage: UsageService
  readonly worktrees: SessionWorktreeService
  readonly changes: SessionChangeService
  readonly moves: Moves
  readonly #options: ReturnType<typeof withDefaults>
  readonly #feed: ChangeFeed
  readonly #saver: RecordSaver
  readonly #sessions: SessionCache
  readonly #renaming: Renaming
  readonly #ledger: UsageLedger
  readonly #starts: SessionStarts
  readonly #repeated: RepeatedCalls
  readonly #asOfNow: (session: Session) => Session
  #closing: Promise<void> | undefined

  constructor(given: SessionRegistryOptions) {
    const options = withDefaults(given)
    const { clock } = options
    this.#options = options
    this.#asOfNow = asOfNow(options)
    this.#feed = new ChangeFeed(clock)
    this.#repeated = new RepeatedCalls(clock, (id) => this.#sessions.descriptor(id))
    this.#saver = new RecordSaver(options)
    const keep: SessionHost['keep'] = (session) => this.#saver.save(session)
    const ledger = (this.#ledger = new UsageLedger({ ...options, sessions: () => this.#sessions }))
    const guard = new RunGuard({ ...options, live: () => this.#sessions.live })
    this.#sessions = new SessionCache({
      ...options,
      startAgent: guard.around(options.startAgent),
      ledger,
      keep,
      onChange: (session, isUrgent) => {
        this.#saver.changed(session, isUrgent)
        if (this.#feed.watchers.size > 0) this.#feed.changed(session, isUrgent)
      },
      childrenOf: (id) => this.#sessions.childrenOf(id),
      find: (id) => this.#sessions.get(id),
      onUnread: (session) => void (this.#saver.isDue(session) || this.#sessions.evict(session.id)),
    })
    const sessions = this.#sessions
    this.#renaming = new Renaming(sessions)
    this.permissions = permissionService({ ...options, sessions, keep })
    this.usage = usageService({ ledger, clock, find: (id) => sessions.descriptor(id) })
    const asker = (by: Principal): Asker => this.#asker(by)
    this.worktrees = new SessionWorktreeService({ ...options, sessions, asker })
    this.changes = new SessionChangeService({ ...options, sessions, asker })
    this.moves = new Moves({ ...options, sessions, ledger, saver: this.#saver, feed: this.#feed, guard })
    this.#starts = new SessionStarts({
      ...options,
      sessions,
      moves: this.moves,
      changes: this.changes,
      asker,
      assertRoom: () => this.#assertRoom(),
      assertBudget: (session) => ledger.assertRoom(session.workspaceSlug, session.parentSessionId),
      discard: (session) => this.#delete(session),
    })
    const forget = (id: string, by: Principal): Promise<Forgotten> => this.forget(id, by)
    this.archive = new Archive({ ...options, sessions, feed: this.#feed, keep, forget })
  }

  async load(): Promise<void> {
    const sessions = await loadSessions(this.#options)
    for (const each of sessions) this.#sessions.put(each)
    await this.#ledger.open()
    const host = { ...this.#options, ledger: this.#ledger, sessions: this.#sessions }
    await goOnAfter(sessions, { ...host, keep: (session) => this.#saver.save(session) })
    this.#repeated.load(sessions)
    this.archive.retain(this.#options.config.retentionMs)
  }

  async spawn(request: SpawnAgentRequest, by: Principal): Promise<Session> {
    const { id } = await this.#repeated.start(request, by, {
      start: (idempotency) => this.#spawn(request, by, idempotency),
      goOn: (earlier) => this.#starts.goOn(this.#sessions.get(earlier), request, by),
    })
    return this.#sessions.get(id).snapshot()
  }

  async fork(id: string, request: ForkRequest, by: Principal): Promise<Session> {
    const old = this.#sessions.get(id)
    assertNoAgent(by, 'fork a session')
    return this.#starts.fork(old, request, by)
  }

  list: SessionRegistry['list'] = async (filter = {}, within) => {
    const isInScope = this.#sessions.scope(within)
    return pageOf(this.#sessions.all, filter, { isInScope, asOfNow: this.#asOfNow })
  }

  async get(id: string, within?: SessionBounds): Promise<Session> {
    const session = this.#sessions.descriptor(id)
    if (session !== undefined && this.#sessions.scope(within)(session)) return this.#asOfNow(session)
    throw sessionNotFound(id)
  }

  async prompt(id: string, request: PromptRequest, by: Principal): Promise<{ turn: number }> {
    const session = this.#sessions.get(id)
    this.#assertOpen()
    const { prompt, whenBusy } = request
    const admit = async (idempotency?: IdempotencyDigests): Promise<number> => {
      if (!session.isLive && this.#asOfNow(session.snapshot()).wakeable)
        await this.#resume(session, { isByPrompt: true }, by)
      this.moves.assertMayRun(session.state.session)
      const content = contentOf(prompt)
      return session.call('prompt', { content, origin: 'prompt', whenBusy, trace: by.trace, idempotency })
    }
    return { turn: await this.#repeated.prompt(session, request, { by, admit }) }
  }

  async resume(id: string, request: ResumeRequest, by: Principal): Promise<Session> {
    const session = this.#sessions.get(id)
    await this.#resume(session, request, by)
    return session.snapshot()
  }

  async configure(id: string, request: ConfigRequest, by: Principal): Promise<Session> {
    const session = this.#sessions.get(id)
    if (request.permissionMode !== undefined) assertMayDecideAhead(by, 'session')
    assertNoAgent(by, 'change what another one is set to')
    try {
      await configureSession(session, request, { type: 'principal', name: by.name })
    } finally {
      await this.#saver.save(session)
    }
    return session.snapshot()
  }

  async rename(id: string, request: RenameRequest, by: Principal): Promise<Session> {
    const session = this.#sessions.get(id)
    assertNoAgent(by, 'rename a session')
    await this.#renaming.rename(session, request, by)
    return session.snapshot()
  }

  turns: SessionRegistry['turns'] = async (id, query) => readTurns(this.#sessions.get(id), query)
  turn: SessionRegistry['turn'] = async (id, turn) => readTurnDetail(this.#sessions.get(id), turn)

  async waitTurn(id: string, turn: number, signal?: AbortSignal): Promise<TurnResult> {
    const session = this.#sessions.get(id)
    return session.turns.wait(turn, session.state.queue.length, signal) ?? readTurn(session, turn)
  }

  interrupt: SessionRegistry['interrupt'] = async (id, _by, { turn } = {}) =>
    this.#sessions.get(id).call('interrupt', { turn })

  kill: SessionRegistry['kill'] = async (id, _by, reason) =>
    this.#sessions.get(id).call('kill', { ending: endingOfKill(reason) })

  async forget(id: string, by: Principal): Promise<Forgotten> {
    const session = this.#sessions.get(id)
    assertNoAgent(by, 'have a session forgotten')
    await this.kill(id, by)
    const keptWorktree = await this.worktrees.release(session)
    await this.#delete(session)
    return defined({ keptWorktree })
  }

  output: SessionRegistry['output'] = async (id, lastN) => this.#sessions.get(id).output.lines(lastN)
  followOutput: SessionRegistry['followOutput'] = async (id, cursor) => this.#sessions.get(id).output.follow(cursor)
  events: SessionRegistry['events'] = async (id, after, limit) => this.#sessions.get(id).log.read(after, limit)
  follow: SessionRegistry['follow'] = async (id, after) => this.#sessions.get(id).log.follow(after)
  requests: SessionRegistry['requests'] = async (id) => this.#sessions.get(id).state.requests
  waiting: SessionRegistry['waiting'] = async (query = {}, within) => waitingIn(this.#sessions, query, within)

  async answer({ id, requestId }: RequestKey, answer: AgentAnswer, by: Principal): Promise<SessionRequest> {
    const session = this.#sessions.get(id)
    const answered = await answerRequest(session, requestId, { answer, by })
    if (answer.outcome !== 'selected' || answer.remember === undefined) return answered
    await reviewAll(this.#sessions.live)
    await this.#saver.save(session)
    return answered
  }

  watch: SessionRegistry['watch'] = (within) =>
    this.#feed.watch(within === undefined ? undefined : this.#sessions.scope(within))

  close(options: CloseOptions = {}): Promise<void> {
    this.#closing ??= this.#close(options)
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close({ keepAgents = false }: CloseOptions): Promise<void> {
    const sessions = this.#sessions.loaded
    const kept = keepAgents ? sessions.filter(({ state }) => isKept(state)) : []
    const isLeft = await Promise.all(kept.map((session) => session.leave()))
    const left = kept.filter((_, at) => isLeft[at])
    const ended = sessions.filter((session) => !left.includes(session))
    for (const problem of await endAll(ended, 'shutdown')) this.#options.onProblem(problem)
    this.archive.close()
    this.#feed.close()
    await this.changes.close()
    await Promise.allSettled(sessions.map(({ log }) => log.close()))
    await Promise.all(left.map((session) => this.#saver.save(session)))
    await this.#saver.close()
    await this.#ledger.close()
    await this.#options.store.close()
  }

  async #spawn(request: SpawnAgentRequest, by: Principal, idempotency?: IdempotencyDigests): Promise<Session> {
    this.#assertOpen()
    assertThisHost(request, this.#options.hostId)
    return this.#starts.spawn(request, by, idempotency)
  }

  async #delete(session: SessionActor): Promise<void> {
    const last = session.snapshot()
    await session.log.remove()
    this.#sessions.delete(session)
    this.#ledger.forget(session.id)
    await this.#saver.forget(session)
    await this.#options.logs.delete(session.id)
    await this.#options.store.delete(session.id)
    this.changes.forget(session.id)
    this.#feed.forgotten(last)
  }

  async #resume(session: SessionActor, request: ResumeCall, by: Principal): Promise<void> {
    const { place } = await sameRootsOf(session.stored(), this.#asker(by))
    this.#assertRoom()
    this.moves.assertMayRun(session.state.session)
    await session.call('resume', { request, workspaceSlug: place.workspaceSlug, trace: by.trace })
  }

  #asker(by: Principal): Asker {
    return { by, workspaces: this.#options.workspaces, within: (id) => foldersOf(this.#sessions.get(id).stored()) }
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw shuttingDown()
  }

  /** @throws `session_limit_reached`, `shutting_down` */
  #assertRoom(): void {
    this.#assertOpen()
    assertSessionRoom(this.#sessions.live.length, this.#options.config)
  }
}
