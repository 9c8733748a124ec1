import { AgentprotoError, isLive } from '@agentproto/contracts'
import type { AgentRequest, Session, SessionEvent, SessionRequest } from '@agentproto/contracts'
import type { AcpSessions } from '@agentproto/acp'

type Payload = SessionEvent extends infer E
  ? E extends SessionEvent
    ? Omit<E, 'seq' | 'ts' | 'sessionId'>
    : never
  : never

/** Sessions of a gateway that a test plays: its log is what the test says. */
export class FakeSessions implements AcpSessions {
  readonly calls: unknown[][] = []
  readonly sessions = new Map<string, FakeSession>()
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

  async list(filter: object): ReturnType<AcpSessions['list']> {
    this.calls.push(['list', filter])
    return { sessions: [...this.sessions.values()].map((session) => session.snapshot()), nextCursor: 'more' }
  }

  async get(id: string): Promise<Session> {
    return this.the(id).snapshot()
  }

  async prompt(id: string, request: { prompt: unknown }): Promise<{ turn: number }> {
    this.calls.push(['prompt', id, request.prompt])
    if (this.refusal !== undefined) throw this.refusal
    const turn = this.the(id).begins(request.prompt)
    await this.beforeAnswer?.()
    return { turn }
  }

  async interrupt(id: string): Promise<void> {
    this.calls.push(['interrupt', id])
    const session = this.the(id)
    if (session.busy) session.ends('cancelled')
  }

  async remove(id: string): Promise<void> {
    this.calls.push(['remove', id])
    this.the(id)
    this.sessions.delete(id)
  }

  async *events(id: string, { after, signal }: { after: number; signal: AbortSignal }): AsyncGenerator<SessionEvent> {
    const session = this.the(id)
    session.followers++
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
    return { events, nextAfter: events.at(-1)?.seq ?? after }
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
  busy = false
  status: Session['status'] = 'running'
  #turn = 0
  #wake: (() => void)[] = []
  readonly #id: string
  readonly #more: Partial<Session>

  constructor(id: string, more: Partial<Session>) {
    this.#id = id
    this.#more = more
  }

  snapshot(): Session {
    const pendingRequests = this.requests.filter(({ state }) => state === 'pending').length
    const { length: lastSeq } = this.log
    const session = { id: this.#id, cwd: '/work', adapterSlug: 'demo', lastActiveAt: NOW, status: this.status }
    return { ...session, pendingRequests, lastSeq, ...this.#more } as Session
  }

  says(payload: Payload): void {
    const turn = this.#turn === 0 ? {} : { turn: this.#turn }
    this.log.push({ seq: this.log.length + 1, ts: NOW, sessionId: this.#id, ...turn, ...payload })
    for (const wake of this.#wake.splice(0)) wake()
  }

  begins(prompt: unknown): number {
    if (this.status !== 'running') this.status = 'running'
    this.busy = true
    this.#turn += 1
    this.says({ type: 'user-prompt', content: prompt as never })
    return this.#turn
  }

  ends(reason: Extract<SessionEvent, { type: 'turn-end' }>['reason']): void {
    this.busy = false
    this.says({ type: 'turn-end', reason })
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
