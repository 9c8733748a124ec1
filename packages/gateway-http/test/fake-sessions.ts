import {
  type AgentAnswer,
  AgentprotoError,
  defined,
  isLive,
  type OutputLine,
  type Principal,
  type QueuedTurn,
  type Session,
  type SessionRequest,
  summaryOf,
  type Turn,
  type TurnDetail,
  type TurnResult,
} from '@agentproto/contracts'
import type { EventBatch } from '@agentproto/contracts/agent'
import type {
  ConfigRequest,
  EventReader,
  ForkRequest,
  Forgotten,
  InterruptRequest,
  KillReason,
  OutputReader,
  PromptRequest,
  RequestKey,
  RequestPage,
  RenameRequest,
  ResumeRequest,
  SessionBounds,
  SessionFilter,
  SessionPage,
  SessionService,
  SessionWatcher,
  SpawnAgentRequest,
  TurnQuery,
  WaitingQuery,
} from '@agentproto/contracts/wire'
import { FakeFeed, reaches } from './fake-feed.ts'
import { newSession, permission } from './fake-session.ts'
import { FakeLog, project, type Payload } from './fake-log.ts'

interface FakeSession {
  session: Session
  readonly log: FakeLog
  readonly turns: Turn[]
  readonly requests: SessionRequest[]
}

/** What it does, by its turns and requests. */
function stateOf({ session, turns, requests }: FakeSession): Session['state'] {
  const pendingRequests = requests.filter(({ state }) => state === 'pending').length
  const state = turns.at(-1)?.state === 'running' ? 'busy' : 'idle'
  return summaryOf({ ...session, pendingRequests, turn: { ...session.turn, state } }).state
}

/**
 * A registry in memory: an agent that echoes, and that stays busy after the prompt "hang" and asks after the
 * prompt "ask". Ids count from `s1`.
 */
export class FakeSessions implements SessionService {
  readonly all = new Map<string, FakeSession>()
  readonly calls: (readonly [name: string, ...args: unknown[]])[] = []
  /** Thrown by the next call of any method. */
  failure: Error | undefined
  readonly feed = new FakeFeed()
  #ended: (() => void)[] = []

  log(id: string): FakeLog {
    return this.#find(id).log
  }

  async spawn(request: SpawnAgentRequest, by: Principal): Promise<Session> {
    this.#note('spawn', request, by)
    if (request.adapter === 'none')
      throw new AgentprotoError('no_adapter_installed', 'No adapter is installed', { hint: 'Run x' })
    if (request.adapter !== 'demo')
      throw new AgentprotoError('adapter_not_found', 'There is no such adapter', { given: request.adapter })
    const id = `s${this.all.size + 1}`
    const log = new FakeLog(id)
    this.all.set(id, { session: newSession(id, request), log, turns: [], requests: [] })
    log.append({ type: 'status', status: 'running', previous: 'starting' })
    if (request.prompt !== undefined) await this.prompt(id, { prompt: request.prompt }, by)
    this.#changed(id)
    return this.#find(id).session
  }

  async list(filter: SessionFilter = {}, within?: SessionBounds): Promise<SessionPage> {
    this.#note('list', filter)
    const sessions = [...this.all.values()]
      .map(({ session }) => session)
      .filter((session) => (!filter.onlyAlive || isLive(session)) && reaches(session, within))
      .filter((session) => filter.adapter === undefined || session.adapterSlug === filter.adapter)
    return { sessions }
  }

  async get(id: string, within?: SessionBounds): Promise<Session> {
    this.#note('get', id)
    const found = this.#find(id)
    const { session, log } = found
    if (!reaches(session, within))
      throw new AgentprotoError('session_not_found', 'There is no such session', { given: id })
    return { ...session, state: stateOf(found), lastSeq: log.lastSeq }
  }

  async prompt(id: string, request: PromptRequest, by: Principal): Promise<{ turn: number }> {
    this.#note('prompt', id, request, by)
    const found = this.#find(id)
    const { session, turns, log } = found
    if (!isLive(session)) throw new AgentprotoError('session_ended', 'The session has ended', { given: id })
    if (turns.at(-1)?.state === 'running') throw new AgentprotoError('turn_in_progress', 'A turn is in progress')
    const turn = turns.length + 1
    turns.push({ number: turn, state: 'running', startedAt: session.startedAt, firstSeq: log.lastSeq + 1 })
    found.session = { ...session, turnCount: turn, turn: { number: turn, state: 'busy' } }
    const content = typeof request.prompt === 'string' ? [{ type: 'text', text: request.prompt }] : request.prompt
    log.append({ type: 'user-prompt', turn, content })
    if (request.prompt === 'ask') this.ask(id)
    else if (request.prompt !== 'hang')
      this.endTurn(id, [{ type: 'text-delta', turn, text: `echo ${JSON.stringify(request.prompt)}` }])
    return { turn }
  }

  /** The agent asks for a permission in its turn. */
  ask(id: string): void {
    const { requests, turns, log } = this.#find(id)
    const request = permission(id, turns.length)
    requests.push(request)
    log.append({ type: 'agent-prompt', turn: turns.length, requestId: request.requestId, request: request.request })
  }

  /** Ends the running turn, after what the agent says last. */
  endTurn(id: string, said: readonly Payload[] = [], reason: Turn['reason'] = 'end_turn'): void {
    const { turns, log } = this.#find(id)
    const turn = turns.pop()
    if (turn === undefined) return
    log.append(...said, { type: 'turn-end', turn: turn.number, reason })
    turns.push({ ...turn, state: 'ended', ...(reason === undefined ? {} : { reason }), lastSeq: log.lastSeq })
    const ended = this.#ended
    this.#ended = []
    for (const resolve of ended) resolve()
  }

  async waitTurn(id: string, turn: number, signal?: AbortSignal): Promise<TurnResult> {
    this.#note('waitTurn', id, turn)
    const { turns } = this.#find(id)
    while (turns[turn - 1]?.state === 'running') {
      if (signal?.aborted) throw new AgentprotoError('cancelled', 'The caller cancelled the wait')
      await new Promise<void>((resolve) => {
        this.#ended.push(resolve)
        signal?.addEventListener('abort', () => resolve(), { once: true })
      })
    }
    const found = turns[turn - 1]
    if (found === undefined) throw new AgentprotoError('turn_not_found', 'There is no such turn', { given: turn })
    return { ...found, text: 'the answer', parts: [{ type: 'text', text: 'the answer' }] }
  }

  async turns(id: string, { after = 0, limit = 1_000 }: TurnQuery = {}): Promise<readonly Turn[]> {
    this.#note('turns', id, { after, limit })
    return this.#find(id).turns.slice(after, after + limit)
  }

  async turn(id: string, turn: number): Promise<TurnDetail | QueuedTurn> {
    this.#note('turn', id, turn)
    const found = this.#find(id).turns[turn - 1]
    if (found === undefined) throw new AgentprotoError('turn_not_found', 'There is no such turn', { given: turn })
    return { ...found, text: 'the answer', parts: [], prompt: [] }
  }

  async resume(id: string, request: ResumeRequest, by: Principal): Promise<Session> {
    this.#note('resume', id, request, by)
    const found = this.#find(id)
    if (isLive(found.session)) throw new AgentprotoError('session_live', 'The session has not ended')
    found.session = { ...found.session, status: 'running', resumedHow: request.fresh === true ? 'fresh' : 'resume' }
    return found.session
  }

  async configure(id: string, { mode, model, options }: ConfigRequest, by: Principal): Promise<Session> {
    this.#note('configure', id, { mode, model, options }, by)
    const found = this.#find(id)
    if (!isLive(found.session)) throw new AgentprotoError('session_ended', 'The session has ended', { given: id })
    if (mode !== undefined && mode !== 'plan')
      throw new AgentprotoError('mode_unknown', 'The agent has no such mode', { expected: 'plan', given: mode })
    const modeId = mode === undefined ? {} : { modeId: mode }
    found.session = { ...found.session, config: { ...modeId, ...(model === undefined ? {} : { modelId: model }) } }
    return found.session
  }

  async rename(id: string, { title, label }: RenameRequest, by: Principal): Promise<Session> {
    this.#note('rename', id, { title, label }, by)
    const found = this.#find(id)
    const names = {
      title: title === undefined ? found.session.title : (title ?? undefined),
      label: label === undefined ? found.session.label : (label ?? undefined),
    }
    found.session = defined({ ...found.session, ...names })
    return found.session
  }

  async fork(id: string, request: ForkRequest, by: Principal): Promise<Session> {
    this.#note('fork', id, request, by)
    const { session } = this.#find(id)
    if (session.label === 'unforkable') throw new AgentprotoError('not_supported', 'The agent cannot fork a session')
    const { id: child } = await this.spawn({ adapter: session.adapterSlug, ...request }, by)
    const found = this.#find(child)
    found.session = { ...found.session, forkedFrom: id }
    return found.session
  }

  async interrupt(id: string, by: Principal, request?: InterruptRequest): Promise<{ wasBusy: boolean }> {
    this.#note('interrupt', id, by, request)
    const wasBusy = this.#find(id).turns.at(-1)?.state === 'running'
    if (wasBusy) this.endTurn(id, [], 'cancelled')
    return { wasBusy }
  }

  async kill(id: string, by: Principal, reason?: KillReason): Promise<{ ok: boolean }> {
    this.#note('kill', id, by, reason)
    const found = this.#find(id)
    if (!isLive(found.session)) return { ok: false }
    found.session = {
      ...found.session,
      status: 'killed',
      state: 'ended',
      attachable: false,
      endedAt: found.session.startedAt,
    }
    found.log.append({ type: 'status', status: 'killed', previous: 'running' })
    found.log.append({ type: 'session-stopped', status: 'killed', stopReason: reason ?? 'user_canceled' })
    found.log.end()
    this.#changed(id)
    return { ok: true }
  }

  async forget(id: string, by: Principal): Promise<Forgotten> {
    this.#note('forget', id, by)
    this.#find(id)
    this.all.delete(id)
    this.feed.push({ type: 'forgotten', id })
    return {}
  }

  async output(id: string, lastN?: number): Promise<readonly OutputLine[]> {
    this.#note('output', id, lastN)
    const lines = this.#find(id)
      .log.records.flatMap(project)
      .flatMap((item) => (item.type === 'line' ? [item.line] : []))
    return lastN === undefined ? lines : lines.slice(-lastN)
  }

  async events(id: string, after: number, limit: number): Promise<EventBatch> {
    this.#note('events', id, after, limit)
    return this.#find(id).log.read(after, limit)
  }

  async follow(id: string, after: number): Promise<EventReader> {
    this.#note('follow', id, after)
    return this.#find(id).log.reader(after)
  }

  async followOutput(id: string, cursor?: string): Promise<OutputReader> {
    this.#note('followOutput', id, cursor)
    return this.#find(id).log.outputReader(cursor)
  }

  async requests(id: string): Promise<readonly SessionRequest[]> {
    this.#note('requests', id)
    return this.#find(id).requests
  }

  async waiting(query?: WaitingQuery, within?: SessionBounds): Promise<RequestPage> {
    this.#note('waiting', query)
    const seen = [...this.all.values()].filter(({ session }) => reaches(session, within))
    return { requests: seen.flatMap(({ requests }) => requests) }
  }

  async answer({ id, requestId }: RequestKey, answer: AgentAnswer, by: Principal): Promise<SessionRequest> {
    this.#note('answer', id, requestId, answer, by)
    const { requests } = this.#find(id)
    const at = requests.findIndex((request) => request.requestId === requestId)
    const found = requests[at]
    if (found === undefined)
      throw new AgentprotoError('request_not_found', 'There is no such request', { given: requestId })
    if (found.state === 'resolved') throw new AgentprotoError('request_resolved', 'It has been answered by owner')
    const resolved: SessionRequest = {
      ...found,
      state: 'resolved',
      answer,
      answeredBy: { type: 'principal', name: by.name },
    }
    requests[at] = resolved
    return resolved
  }

  watch(within?: SessionBounds): SessionWatcher {
    this.#note('watch')
    return this.feed.watch(within)
  }

  #changed(id: string): void {
    this.feed.push({ type: 'session', session: this.#find(id).session })
  }

  #note(name: string, ...args: unknown[]): void {
    this.calls.push([name, ...args])
    const { failure } = this
    this.failure = undefined
    if (failure) throw failure
  }

  #find(id: string): FakeSession {
    const found = this.all.get(id)
    if (found === undefined) throw new AgentprotoError('session_not_found', 'There is no such session', { given: id })
    return found
  }
}
