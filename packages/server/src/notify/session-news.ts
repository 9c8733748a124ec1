import type { AgentRequest, Clock, NotificationData, NotifyEvent, SessionEvent, Timer } from '@agentproto/contracts'
import type { DropReason } from '@agentproto/contracts/wire'

/** What happened, without what is known of its session. */
export interface News {
  readonly event: NotifyEvent
  readonly sessionId: string
  readonly at: string
  readonly data: Omit<NotificationData, 'hostId'>
  /** The agent's words, as they came. */
  readonly words?: string
}

export interface SessionNewsOptions {
  readonly clock: Clock
  readonly turnMs: number
  readonly delayMs: number
  readonly onNews: (news: News) => void
  readonly onDropped: (reason: DropReason, count: number) => void
}

/** Requests and failed turns that wait for their delay at the same time. */
const MAX_HELD = 1_000

/** Finds in the events of all sessions what a person wants to know at once. */
export class SessionNews {
  readonly #options: SessionNewsOptions
  /** When the running turn of a session began, in milliseconds since the epoch. */
  readonly #turnStarts = new Map<string, number>()
  /** By request, or by session for a turn that failed. */
  readonly #held = new Map<string, Timer>()

  constructor(options: SessionNewsOptions) {
    this.#options = options
  }

  /** Takes a stored batch of one session. Never throws. */
  take(events: readonly SessionEvent[]): void {
    // The answer of a rule is in the same batch as its request.
    const answered = new Set(events.flatMap((each) => (each.type === 'agent-prompt-resolved' ? [each.requestId] : [])))
    for (const event of events) {
      if (event.type === 'user-prompt' && event.sent !== false)
        this.#turnStarts.set(event.sessionId, Date.parse(event.ts))
      else if (event.type === 'agent-prompt' && !answered.has(event.requestId))
        this.#hold(event.requestId, requestNews(event))
      else if (event.type === 'agent-prompt-resolved') this.#release(event.requestId)
      else if (event.type === 'turn-end') this.#turnEnded(event)
      else if (event.type === 'session-stopped') this.#stopped(event)
    }
  }

  /** Nothing is reported any more. Idempotent. */
  close(): void {
    for (const key of this.#held.keys()) this.#release(key)
  }

  #turnEnded(event: SessionEvent & { readonly type: 'turn-end' }): void {
    const { sessionId, ts: at, turn = 0, reason: endReason } = event
    const startedAt = this.#turnStarts.get(sessionId)
    this.#turnStarts.delete(sessionId)
    const elapsedMs = startedAt === undefined ? 0 : Math.max(0, Date.parse(at) - startedAt)
    const data = { sessionId, turn, endReason, elapsedMs }
    // Held, since the end of the session may follow, which says more.
    if (endReason === 'error' || endReason === 'timeout')
      this.#hold(sessionId, { event: 'failure', sessionId, at, data })
    else if (elapsedMs >= this.#options.turnMs) this.#options.onNews({ event: 'turn-end', sessionId, at, data })
  }

  #stopped(event: SessionEvent & { readonly type: 'session-stopped' }): void {
    const { sessionId, ts: at, stopReason, failure } = event
    this.#turnStarts.delete(sessionId)
    const about = EVENT_OF[stopReason]
    if (about === undefined) return
    this.#release(sessionId)
    const data = { sessionId, stopReason, ...(failure !== undefined && { failureKind: failure.kind }) }
    this.#options.onNews({ event: about, sessionId, at, data })
  }

  #hold(key: string, news: News): void {
    const { clock, delayMs, onNews, onDropped } = this.#options
    if (this.#held.size >= MAX_HELD) return onDropped('full', 1)
    this.#release(key)
    const timer = clock.after(delayMs, () => {
      this.#held.delete(key)
      onNews(news)
    })
    this.#held.set(key, timer)
  }

  #release(key: string): void {
    this.#held.get(key)?.cancel()
    this.#held.delete(key)
  }
}

/** What the end of a session is to its owner; undefined for an end that needs no attention. */
const EVENT_OF: Readonly<
  Record<(SessionEvent & { readonly type: 'session-stopped' })['stopReason'], NotifyEvent | undefined>
> = {
  completed: undefined,
  user_canceled: undefined,
  max_iterations: 'failure',
  loop_detected: 'failure',
  budget_exceeded: 'budget',
  timeout: 'failure',
  error: 'failure',
  agent_crashed: 'failure',
  hook_stopped: 'failure',
  shutdown: undefined,
  idle: undefined,
  expired: 'failure',
  moved: undefined,
}

function requestNews({
  sessionId,
  ts: at,
  turn,
  requestId,
  request,
}: SessionEvent & { readonly type: 'agent-prompt' }): News {
  const about = { sessionId, requestId, requestKind: request.kind, ...(turn !== undefined && { turn }) }
  const kind = request.kind === 'permission' ? request.toolCall.kind : undefined
  const data = kind === undefined ? about : { ...about, toolKind: kind }
  return { event: 'request', sessionId, at, data, words: wordsOf(request) }
}

function wordsOf(request: AgentRequest): string {
  if (request.kind === 'question') return request.message
  const { title, toolName, toolCallId } = request.toolCall
  return title || toolName || toolCallId
}
