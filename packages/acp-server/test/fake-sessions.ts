import {
  AgentprotoError,
  type AgentRequest,
  isLive,
  type Session,
  type SessionEvent,
  type SessionRequest,
} from '@agentproto/contracts'
import type { Interrupted, SessionChange, SessionFilter } from '@agentproto/contracts/wire'
import type { AcpConnectionState, AcpSessions, AcpWatchOptions } from '@agentproto/acp-server'

type Payload = SessionEvent extends infer E
  ? E extends SessionEvent
    ? Omit<E, 'seq' | 'ts' | 'sessionId'>
    : never
  : never

/** Sessions of a gateway that a test plays: its log is what the test says. */
export class FakeSessions implements AcpSessions {
  readonly calls: unknown[][] = []
  readonly sessions = new Map<string, FakeSession>()
  /** What new sessions are beside what they always are. */
  created: Partial<Session> = {}
  readonly changes: SessionChange[] = []
  /** In what is read of a log from its start. */
  gap: { readonly after: number; readonly first: number } | undefined
  watchers = 0
  cuts = 0
  /** How often a log was followed. */
  follows = 0
  /** Why watching fails. */
  away: AgentprotoError | undefined
  #wake: (() => void)[] = []
  /** What the next prompt is refused with. */
  refusal: AgentprotoError | undefined
  /** What happens between a prompt's first event and its answer: the log is faster than the answer. */
  beforeAnswer: (() => void | Promise<void>) | undefined

  add(id: string, more: Partial<Session> = {}): FakeSession {
    const session = new FakeSession(id, more)
    this.sessions.set(id, session)
    return session
  }

  the(id: string): FakeSession {
    const session = this.sessions.get(id)
    if (session === undefined) throw new AgentprotoError('session_not_found', 'There is no such session', { given: id })
    return session
  }

  async list(filter: SessionFilter): ReturnType<AcpSessions['list']> {
    this.calls.push(['list', filter])
    const all = [...this.sessions.values()].map((session) => session.snapshot())
    return { sessions: all.filter(({ cwd }) => filter.cwd === undefined || cwd === filter.cwd), nextCursor: 'more' }
  }

  async get(id: string): Promise<Session> {
    return this.the(id).snapshot()
  }

  async prompt(
    id: string,
    request: { prompt: unknown; whenBusy: 'queue' },
    { trace }: { trace?: unknown } = {},
  ): Promise<{ turn: number }> {
    this.calls.push(['prompt', id, request.prompt, ...(trace === undefined ? [] : [trace])])
    if (this.refusal !== undefined) throw this.refusal
    const turn = this.the(id).prompted(request.prompt)
    await this.beforeAnswer?.()
    return { turn }
  }

  async interrupt(id: string, { turn }: { turn?: number }): Promise<Interrupted> {
    this.calls.push(['interrupt', id, ...(turn === undefined ? [] : [turn])])
    const session = this.the(id)
    if (turn !== undefined && session.withdraws(turn)) return { wasBusy: true, sent: false }
    const wasBusy = session.busy && (turn ?? session.turn) === session.turn
    if (wasBusy) session.ends('cancelled')
    return { wasBusy }
  }

  async fork(id: string): Promise<Session> {
    this.the(id)
    this.calls.push(['fork', id])
    return this.add(`${id}-fork`).snapshot()
  }

  /** The changes of all sessions, until the signal aborts. */
  async *watch({ signal, onState }: AcpWatchOptions): AsyncGenerator<SessionChange> {
    this.watchers++
    try {
      if (this.away !== undefined) throw this.away
      onState({ state: 'connected' })
      const { cuts } = this
      while (!signal.aborted && cuts === this.cuts) {
        const change = this.changes.shift()
        if (change === undefined) await this.#changed(signal)
        else yield change
      }
    } finally {
      this.watchers--
    }
  }

  /** Ends all watches, as of a reader that is too far behind. What changes meanwhile is not published. */
  cut(): void {
    this.cuts++
    for (const wake of this.#wake.splice(0)) wake()
  }

  /** Publishes the session as it is now to the watchers. */
  publish(id: string): void {
    this.changes.push({ type: 'session', session: this.the(id).snapshot() })
    for (const wake of this.#wake.splice(0)) wake()
  }

  #changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#wake.push(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  async remove(id: string): Promise<void> {
    this.calls.push(['remove', id])
    this.the(id)
    this.sessions.delete(id)
  }

  async *events(
    id: string,
    { after, signal, onState }: { after: number; signal: AbortSignal; onState: (state: AcpConnectionState) => void },
  ): AsyncGenerator<SessionEvent> {
    const session = this.the(id)
    this.follows++
    session.followers++
    session.onState = onState
    try {
      let seq = after
      while (isLive(session.snapshot()) || seq < session.log.length) {
        const event = session.log[seq]
        if (event === undefined) await session.more(signal)
        else yield event
        seq = event?.seq ?? seq
        signal.throwIfAborted()
      }
    } finally {
      session.followers--
    }
  }

  async eventsPage(id: string, after: number): ReturnType<AcpSessions['eventsPage']> {
    const events = this.the(id).log.slice(after, after + 3)
    const gap = this.gap === undefined || after > 0 ? {} : { gap: this.gap }
    return { events, nextAfter: events.at(-1)?.seq ?? after, ...gap }
  }

  async requests(id: string): Promise<readonly SessionRequest[]> {
    return this.the(id).requests
  }

  async answer(id: string, requestId: string, answer: unknown): Promise<void> {
    this.calls.push(['answer', id, requestId, answer])
    this.the(id).resolves(requestId)
  }

  async configure(id: string, change: unknown): Promise<Session> {
    this.calls.push(['configure', id, change])
    const session = this.the(id)
    const { mode } = change as { mode?: string }
    if (mode === 'nope') throw new AgentprotoError('mode_unknown', 'The agent knows no such mode')
    if (mode !== undefined) session.says({ type: 'config', config: { modeId: mode } })
    return session.snapshot()
  }
}

export class FakeSession {
  readonly log: SessionEvent[] = []
  readonly requests: SessionRequest[] = []
  followers = 0
  /** Set by the last follower. */
  onState: ((state: AcpConnectionState) => void) | undefined
  busy = false
  status: Session['status'] = 'running'
  /** Events that the record knows of and the log no longer has. */
  missing = 0
  #turn = 0
  #queue: { readonly content: unknown; readonly sent: boolean }[] = []
  #wake: (() => void)[] = []
  readonly #id: string
  readonly #more: Partial<Session>

  constructor(id: string, more: Partial<Session>) {
    this.#id = id
    this.#more = more
  }

  snapshot(): Session {
    const pendingRequests = this.requests.filter(({ state }) => state === 'pending').length
    const lastSeq = this.log.length + this.missing
    const session = { id: this.#id, cwd: '/work', adapterSlug: 'demo', lastActiveAt: NOW, status: this.status }
    const turn = { number: this.#turn, state: this.busy ? 'busy' : 'idle' }
    const counts = { turn, turnCount: this.#turn, pendingRequests, lastSeq }
    return { ...session, warnings: [], ...counts, ...this.#more } as unknown as Session
  }

  says(payload: Payload): void {
    const turn = this.#turn === 0 ? {} : { turn: this.#turn }
    this.log.push({ seq: this.log.length + 1, ts: NOW, sessionId: this.#id, ...turn, ...payload })
    for (const wake of this.#wake.splice(0)) wake()
  }

  get turn(): number {
    return this.#turn
  }

  /** A prompt that comes while a turn runs waits for its end. */
  prompted(content: unknown): number {
    if (!this.busy) return this.begins(content)
    this.#queue.push({ content, sent: true })
    return this.#turn + this.#queue.length
  }

  withdraws(turn: number): boolean {
    const at = turn - this.#turn - 1
    const waiting = this.#queue[at]
    if (waiting === undefined || !waiting.sent) return false
    this.#queue[at] = { ...waiting, sent: false }
    return true
  }

  begins(prompt: unknown, sent = true): number {
    if (this.status !== 'running') this.status = 'running'
    this.busy = true
    this.#turn += 1
    this.says({ type: 'user-prompt', content: prompt as never, ...(sent ? {} : { sent }) })
    return this.#turn
  }

  ends(reason: Extract<SessionEvent, { type: 'turn-end' }>['reason']): void {
    this.busy = false
    this.says({ type: 'turn-end', reason })
    const next = this.#queue.shift()
    if (next === undefined) return
    this.begins(next.content, next.sent)
    if (!next.sent) this.ends('cancelled')
  }

  resumes(): void {
    this.status = 'running'
    this.says({ type: 'status', status: 'running', previous: 'starting' })
  }

  asks(requestId: string, request: AgentRequest): void {
    const { turn, createdAt } = { turn: this.#turn, createdAt: NOW }
    this.requests.push({ requestId, sessionId: this.#id, turn, request, state: 'pending', createdAt })
    this.says({ type: 'agent-prompt', requestId, request })
  }

  resolves(requestId: string): void {
    const at = this.requests.findIndex((request) => request.requestId === requestId)
    const request = this.requests[at]
    if (request?.state !== 'pending') throw new AgentprotoError('request_resolved', 'It has been answered already')
    this.requests[at] = { ...request, state: 'resolved' }
    const answer = { outcome: 'selected', optionId: 'yes' } as const
    this.says({ type: 'agent-prompt-resolved', requestId, answer, by: { type: 'principal', name: 'me' } })
  }

  stops(): void {
    this.status = 'exited'
    this.says({ type: 'session-stopped', status: 'exited', stopReason: 'completed' })
  }

  more(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#wake.push(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }
}

const NOW = '2026-11-22T00:00:00.000Z'
