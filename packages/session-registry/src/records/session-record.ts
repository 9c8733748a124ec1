import type {
  AgentCapabilities,
  RunningAgent,
  Session,
  SessionEvent,
  SessionTurn,
  SessionHealth,
} from '@agentproto/contracts'

/** The descriptor of one session: a projection of its log, and what its start decided. */

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const MAX_TITLE = 80
const MAX_WARNINGS = 20

export class SessionRecord {
  readonly #session: Mutable<Session>
  #turn: Mutable<SessionTurn>
  #agent: RunningAgent | undefined
  /** The title that the caller gave. */
  readonly #given: string | undefined
  /** The agent has been silent for long. */
  #warned = false

  /** @param given the title that the caller gave: it is not the agent's to replace */
  constructor(session: Session, given?: string) {
    this.#session = { ...session }
    this.#given = given
    this.#turn = { ...session.turn }
  }

  get status(): Session['status'] {
    return this.#session.status
  }

  get resumable(): boolean {
    return this.#session.resumable
  }

  /** How many turns its agent has had. */
  get sentTurns(): number {
    return sentTurns(this.#session)
  }

  get permissionMode(): Session['permissionMode'] {
    return this.#session.permissionMode
  }

  set permissionMode(mode: Session['permissionMode']) {
    this.#session.permissionMode = mode
  }

  get instructedBy(): Session['instructed'] {
    return this.#session.instructed
  }

  instructed(by: NonNullable<Session['instructed']>): void {
    this.#session.instructed = by
  }

  get capabilities(): AgentCapabilities | undefined {
    return this.#session.agent?.capabilities
  }

  get startedAt(): string {
    return this.#session.startedAt
  }

  get expiresAt(): string | undefined {
    return this.#session.expiresAt
  }

  /** A copy that nobody else changes. */
  snapshot(extra: Pick<Session, 'pendingRequests' | 'lastSeq' | 'queuedPrompts'>): Session {
    return { ...this.#session, ...extra, health: this.#health(), turn: { ...this.#turn } }
  }

  /**
   * The agent is ready.
   * @param resumable whether the session can be taken up again once it has ended
   */
  started(agent: RunningAgent, resumable: boolean): void {
    // A child ends with its parent, for good.
    this.#session.resumable = resumable && this.#session.parentSessionId === undefined
    this.#session.agent = agent.info
    this.#agent = agent
    this.#named()
    this.#session.connection = 'connected'
    if (agent.sandbox !== undefined) this.#session.sandbox = agent.sandbox
    for (const warning of agent.warnings) this.warn(warning)
  }

  /** What its log says of it is true: a record that differs was not saved, or was changed by somebody else. */
  correct({ status, turnCount, unsentTurns, turn, stopReason, endedAt }: Session): void {
    this.#session.status = status
    this.#session.turnCount = turnCount
    if (unsentTurns !== undefined) this.#session.unsentTurns = unsentTurns
    if (stopReason !== undefined) this.#session.stopReason = stopReason
    if (endedAt !== undefined) this.#session.endedAt = endedAt
    this.#turn = { ...turn }
  }

  resumed(how: NonNullable<Session['resumedHow']>): void {
    this.#session.resumedHow = how
  }

  /** It has had all of its turns. */
  exhausted(): void {
    this.#session.resumable = false
  }

  disconnected(): void {
    this.#session.connection = 'disconnected'
  }

  /** Undefined for nothing to be told. */
  warn(warning: string | undefined): void {
    if (warning === undefined) return
    if (this.#session.warnings.length >= MAX_WARNINGS || this.#session.warnings.includes(warning)) return
    this.#session.warnings = [...this.#session.warnings, warning]
  }

  awaiting(waits: boolean): void {
    if (this.#turn.state !== 'idle') this.#turn.state = waits ? 'awaiting-input' : 'busy'
  }

  /** Follows a stored event. */
  apply(event: SessionEvent): void {
    switch (event.type) {
      case 'text-delta':
      case 'thought':
        this.#active(event)
        break
      case 'tool-call':
        this.#active(event)
        this.#turn.currentTool = event.toolName ?? event.title ?? this.#turn.currentTool ?? event.toolCallId
        break
      case 'tool-result':
        this.#active(event)
        delete this.#turn.currentTool
        break
      case 'user-prompt':
        this.#begin(event)
        break
      case 'turn-end':
        this.#active(event)
        this.#turn = { number: this.#turn.number, state: 'idle', ...activity(event) }
        this.#named()
        break
      case 'error':
      case 'output':
      case 'agent-prompt':
      case 'plan':
      case 'notice':
        this.#active(event)
        break
      case 'runtime-warning':
        this.#warned = event.idleMs !== undefined
        break
      case 'title':
        this.#session.title = this.#given ?? event.title.slice(0, MAX_TITLE)
        break
      case 'config':
        // One of the host's own, of the permission mode, says nothing of the agent.
        if (!('permissionMode' in event)) this.#session.config = { ...this.#session.config, ...event.config }
        break
      case 'status':
        this.#session.status = event.status
        if (event.status === 'starting') this.#begunAgain()
        break
      case 'session-stopped':
        this.#stop(event)
        break
      default:
        break
    }
  }

  /** A resume: what the end had said is true no more. */
  #begunAgain(): void {
    for (const key of ['endedAt', 'stopReason', 'failure', 'exitCode', 'signal'] as const) delete this.#session[key]
  }

  /** Some agents name their session only with their first answer. */
  #named(): void {
    if (this.#agent && this.#agent.agentSessionId !== '') this.#session.agentSessionId = this.#agent.agentSessionId
  }

  #begin(event: SessionEvent & { readonly type: 'user-prompt' }): void {
    const number = event.turn ?? this.#session.turnCount + 1
    this.#session.turnCount = number
    if (event.sent === false) this.#session.unsentTurns = (this.#session.unsentTurns ?? 0) + 1
    this.#session.lastActiveAt = event.ts
    this.#turn = { number, state: 'busy', startedAt: event.ts, ...activity(event) }
    const text = event.content.find((block) => block.type === 'text')?.text
    if (this.#session.title === undefined && text !== undefined) this.#session.title = titleOf(text)
  }

  #health(): SessionHealth {
    const { status, connection } = this.#session
    if (status === 'starting') return 'unknown'
    if (status !== 'running') return 'dead'
    if (connection === 'disconnected') return 'stale'
    return this.#warned ? 'degraded' : 'healthy'
  }

  #active(event: SessionEvent): void {
    this.#warned = false
    this.#session.lastOutputAt = event.ts
    this.#session.lastActiveAt = event.ts
    this.#turn.lastActivityAt = event.ts
    this.#turn.lastActivityKind = event.type
  }

  #stop(event: SessionEvent & { readonly type: 'session-stopped' }): void {
    this.#session.endedAt = event.ts
    this.#session.stopReason = event.stopReason
    this.#session.connection = 'disconnected'
    if (event.failure !== undefined) this.#session.failure = event.failure
    if (event.exitCode !== undefined) this.#session.exitCode = event.exitCode
    if (event.signal !== undefined) this.#session.signal = event.signal
    this.#turn = { number: this.#turn.number, state: 'idle' }
  }
}

/** How many turns the agent of a session has had: what `max_turns` limits. */
export const sentTurns = ({ turnCount, unsentTurns = 0 }: Session): number => turnCount - unsentTurns

const activity = (event: SessionEvent): Pick<SessionTurn, 'lastActivityAt' | 'lastActivityKind'> => ({
  lastActivityAt: event.ts,
  lastActivityKind: event.type,
})

/** The first line of the first prompt, cut at a word. */
function titleOf(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  if (line.length <= MAX_TITLE) return line
  const cut = line.slice(0, MAX_TITLE - 1)
  return `${cut.slice(0, cut.lastIndexOf(' ') > MAX_TITLE / 2 ? cut.lastIndexOf(' ') : cut.length)}…`
}
