import {
  type AgentAnswer,
  AgentprotoError,
  assertMayDecideAhead,
  type Clock,
  type ConfigRequest,
  type EventBatch,
  type EventReader,
  type ForkRequest,
  type Interrupted,
  type InterruptRequest,
  isLive,
  type NewId,
  type OutputLine,
  type OutputReader,
  type PermissionService,
  type Principal,
  type PromptRequest,
  type RequestKey,
  type ResumeRequest,
  type Session,
  type SessionBounds,
  type SessionFilter,
  type SessionPage,
  type SessionRequest,
  type SessionWatcher,
  type SpawnAgentRequest,
  type StoredSpawn,
  type TurnResult,
} from '@agentproto/contracts'
import { Archive } from './archive/archive.js'
import { ChangeFeed } from './change-feed.js'
import { planSession } from './lifecycle/birth.js'
import { assertMayAnswer, assertNoAgent } from './delegation/delegation.js'
import { endingOfKill } from './lifecycle/ending.js'
import { endAll } from './lifecycle/end-all.js'
import { forkOf } from './lifecycle/fork.js'
import { Idempotency } from './idempotency.js'
import type { ManagedSession } from './managed-session.js'
import { permissionService, reviewAll } from './permissions/permission-service.js'
import { RecordKeeper } from './record-keeper.js'
import type { RegistryConfig } from './registry-config.js'
import { launchSession } from './lifecycle/launch-session.js'
import { assertRoom } from './lifecycle/live-limit.js'
import type { SessionRegistry, SessionRegistryOptions } from './registry-options.js'
import { repairStored } from './lifecycle/repair.js'
import type { Waking } from './lifecycle/resume.js'
import { ownOf, sessionHost } from './session-host.js'
import { SESSION_ID_PREFIX, sessionNotFound } from './records/session-id.js'
import { pageOf } from './records/session-page.js'
import { SessionShelf } from './session-shelf.js'
import { type Birth, contentOf } from './lifecycle/spawn-request.js'
import { readTurn, readTurnDetail, readTurns } from './turns/turn-log.js'
import { waitingIn } from './requests/waiting.js'

/**
 * Opens AIP-46's registry, the one service that HTTP, MCP and the CLI drive: loads what is stored, ends
 * and repairs what a dead host left live.
 * @throws `storage_failed`
 */
export async function openSessionRegistry(options: SessionRegistryOptions): Promise<SessionRegistry> {
  const registry = new Registry(options)
  await registry.load()
  return registry
}

class Registry implements SessionRegistry {
  readonly permissions: PermissionService
  readonly turns: SessionRegistry['turns'] = async (id, query) => readTurns(this.#session(id), query)
  readonly turn: SessionRegistry['turn'] = async (id, turn) => readTurnDetail(this.#session(id), turn)
  readonly archive: Archive
  readonly #options: SessionRegistryOptions
  readonly #clock: Clock
  readonly #newId: NewId
  readonly #config: RegistryConfig
  readonly #feed: ChangeFeed
  readonly #keeper: RecordKeeper
  readonly #sessions: SessionShelf
  readonly #spawned: Idempotency<Session>
  readonly #prompted: Idempotency<number>
  #closing: Promise<void> | undefined
  readonly #problem = (problem: string): void => this.#options.onProblem?.(problem)

  constructor(options: SessionRegistryOptions) {
    this.#options = options
    const own = ownOf(options)
    this.#clock = own.clock
    this.#newId = own.newId
    this.#config = own.config
    this.#feed = new ChangeFeed(this.#clock)
    this.#spawned = new Idempotency(this.#clock)
    this.#prompted = new Idempotency(this.#clock)
    this.#keeper = new RecordKeeper({ store: options.store, clock: this.#clock, onProblem: this.#problem })
    this.permissions = permissionService({
      ...own,
      session: (id) => this.#session(id),
      sessions: () => this.#sessions.live,
      save: (session) => this.#keeper.save(session),
    })
    const host = sessionHost(options, {
      ...own,
      onProblem: this.#problem,
      keep: (session) => this.#keeper.save(session),
      onChange: (session, urgent) => {
        this.#keeper.changed(session, urgent)
        this.#feed.changed(session, urgent)
      },
      childrenOf: (id) => this.#sessions.childrenOf(id),
      onUnread: (session) => void (this.#keeper.isDue(session) || this.#sessions.rest(session.id)),
    })
    this.#sessions = new SessionShelf(host)
    this.archive = new Archive({
      ...host,
      store: options.store,
      shelf: this.#sessions,
      forget: (id, by) => this.forget(id, by),
      save: (session) => this.#keeper.save(session),
    })
  }

  async load(): Promise<void> {
    const { sessions, problems } = await this.#options.store.load()
    for (const problem of problems) this.#problem(problem)
    for (const stored of sessions) this.#sessions.put(stored)
    for (const stored of sessions.filter(({ session, starting }) => isLive(session) || starting)) {
      const session = this.#session(stored.session.id)
      if (await repairStored(session, stored, this.#options)) await this.#keeper.save(session)
    }
    this.archive.retain(this.#config.retentionMs)
  }

  async spawn(request: SpawnAgentRequest, by: Principal): Promise<Session> {
    // A key is its caller's own: nobody is handed another's session for it.
    const key = request.idempotencyKey && `${by.type} ${by.name} ${request.idempotencyKey}`
    const { id } = await this.#spawned.once(key, request, () => this.#spawn(request, by))
    return this.#session(id).snapshot()
  }

  async #spawn(request: SpawnAgentRequest, by: Principal): Promise<Session> {
    this.#assertOpen()
    const place = { ...this.#options, sessions: this.#sessions, born: () => this.#born() }
    const { session, spawn, assertAdmitted } = await planSession(request, by, place)
    // Nothing is awaited between the counts and the entry, so that the limits hold for spawns at once.
    this.#assertRoom()
    this.#assertOpen()
    assertAdmitted()
    return launchSession(this.#add(session, spawn), this.#keeper, { ...request, by })
  }

  async fork(id: string, request: ForkRequest, by: Principal): Promise<Session> {
    const old = this.#session(id)
    assertNoAgent(by, 'fork a session')
    this.#assertOpen()
    this.#assertRoom()
    const { session, spawn, origin } = forkOf(old.stored(), request, { by, born: this.#born() })
    return launchSession(this.#add(session, spawn), this.#keeper, { ...request, origin, by })
  }

  #born(): Birth {
    const now = new Date(this.#clock.now()).toISOString()
    return { id: this.#newId(SESSION_ID_PREFIX), now, hostId: this.#options.hostId }
  }

  list(filter: SessionFilter = {}, within?: SessionBounds): Promise<SessionPage> {
    return Promise.resolve(pageOf(this.#sessions.all, filter, this.#sessions.reached(within)))
  }

  async get(id: string, within?: SessionBounds): Promise<Session> {
    const session = this.#sessions.descriptor(id)
    if (session !== undefined && this.#sessions.reached(within)(session)) return session
    throw sessionNotFound(id)
  }

  async prompt(id: string, request: PromptRequest, { trace }: Principal): Promise<{ turn: number }> {
    const session = this.#session(id)
    this.#assertOpen()
    const { prompt, whenBusy, idempotencyKey } = request
    const turn = await this.#prompted.once(idempotencyKey && `${id} ${idempotencyKey}`, request, async () => {
      if (!session.isLive && session.snapshot().resumable) await this.#resume(session, { byPrompt: true }, trace)
      return session.prompt(contentOf(prompt), { origin: 'prompt', whenBusy, trace })
    })
    return { turn }
  }

  async resume(id: string, request: ResumeRequest, { trace }: Principal): Promise<Session> {
    return (await this.#resume(this.#session(id), request, trace)).snapshot()
  }

  async configure(id: string, request: ConfigRequest, by: Principal): Promise<Session> {
    const session = this.#session(id)
    if (request.permissionMode !== undefined) assertMayDecideAhead(by, 'session')
    assertNoAgent(by, 'change what another one is set to')
    try {
      await session.configure(request, { type: 'principal', name: by.name })
    } finally {
      await this.#keeper.save(session)
    }
    return session.snapshot()
  }

  async waitTurn(id: string, turn: number, signal?: AbortSignal): Promise<TurnResult> {
    const session = this.#session(id)
    return session.turns.wait(turn, signal) ?? readTurn(session, turn)
  }

  async interrupt(id: string, _by: Principal, { turn }: InterruptRequest = {}): Promise<Interrupted> {
    return this.#session(id).interrupt(turn)
  }

  async kill(id: string, _by: Principal, reason?: Parameters<typeof endingOfKill>[0]): Promise<{ ok: boolean }> {
    return this.#session(id).kill(endingOfKill(reason))
  }

  async forget(id: string, by: Principal): Promise<void> {
    const session = this.#session(id)
    assertNoAgent(by, 'have a session forgotten')
    await this.kill(id, by)
    const last = session.snapshot()
    await session.journal.close()
    this.#sessions.delete(session)
    await this.#keeper.forget(session)
    await this.#options.logs.delete(id)
    await this.#options.store.delete(id)
    this.#feed.forgotten(last)
  }

  async output(id: string, lastN = 200): Promise<readonly OutputLine[]> {
    return this.#session(id).journal.lines(lastN)
  }

  async events(id: string, after: number, limit: number): Promise<EventBatch> {
    const { spine } = await this.#session(id).journal.open()
    return spine.read(after, limit)
  }

  async follow(id: string, after: number): Promise<EventReader> {
    return this.#session(id).journal.follow(after)
  }

  async followOutput(id: string, cursor?: string): Promise<OutputReader> {
    return this.#session(id).journal.followOutput(cursor)
  }

  async requests(id?: string, within?: SessionBounds): Promise<readonly SessionRequest[]> {
    if (id === undefined) return waitingIn(this.#sessions, within)
    const { desk } = this.#session(id)
    await desk.decided()
    return desk.all
  }

  async answer({ id, requestId }: RequestKey, answer: AgentAnswer, by: Principal): Promise<SessionRequest> {
    const session = this.#session(id)
    const remember = answer.outcome === 'selected' ? answer.remember : undefined
    if (remember !== undefined) assertMayDecideAhead(by, remember)
    await session.desk.decided()
    assertMayAnswer(by, session.desk.all.find((each) => each.requestId === requestId)?.request, answer)
    const request = await session.desk.answer(requestId, answer, { type: 'principal', name: by.name })
    if (remember === undefined) return request
    await reviewAll(this.#sessions.live)
    await this.#keeper.save(session)
    return request
  }

  watch(within?: SessionBounds): SessionWatcher {
    return this.#feed.watch(within === undefined ? undefined : this.#sessions.reached(within))
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    const sessions = this.#sessions.awake
    for (const problem of await endAll(sessions)) this.#problem(problem)
    this.archive.close()
    this.#feed.close()
    await Promise.allSettled(sessions.map((session) => session.journal.close()))
    await this.#keeper.close()
    await this.#options.store.close()
  }

  async #resume(session: ManagedSession, request: Waking, trace: Principal['trace']): Promise<ManagedSession> {
    this.#assertOpen()
    this.#assertRoom()
    await session.resume(request, trace)
    await this.#keeper.save(session)
    return session
  }

  #session(id: string): ManagedSession {
    const session = this.#sessions.get(id)
    if (session === undefined) throw sessionNotFound(id)
    return session
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new AgentprotoError('shutting_down', 'The gateway is shutting down')
  }

  #assertRoom(): void {
    assertRoom(this.#sessions.live, this.#config.maxSessions)
  }

  #add(session: Session, spawn: StoredSpawn): ManagedSession {
    this.#sessions.put({ version: 1, session, turns: [], requests: [], spawn })
    return this.#session(session.id)
  }
}
