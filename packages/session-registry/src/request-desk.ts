import {
  type AgentAnswer,
  type AgentRequest,
  AgentprotoError,
  type AnsweredBy,
  type Clock,
  type NewId,
  type PermissionMode,
  type SessionRequest,
  type Timer,
} from '@agentproto/contracts'
import type { LogEntry } from './event-record.js'
import { answerByPolicy, denial } from './permission-policy.js'

/** What the agent asks in the middle of a turn: logged, answered once by a person, a rule or the clock. */

export interface RequestDeskOptions {
  readonly sessionId: string
  readonly clock: Clock
  readonly newId: NewId
  readonly mode: PermissionMode
  /** Resolved folders inside which reads may be approved. */
  readonly roots: readonly string[]
  /** After this much silence a request is denied, in milliseconds. */
  readonly timeoutMs: number
  readonly append: (entry: LogEntry, turn: number) => Promise<void>
  readonly onChange: () => void
}

const KEPT_RESOLVED = 100

interface Pending {
  readonly request: SessionRequest
  readonly settle: (answer: AgentAnswer) => void
  readonly timer: Timer
  resolving: AnsweredBy | undefined
}

export class RequestDesk {
  readonly #options: RequestDeskOptions
  readonly #pending = new Map<string, Pending>()
  #resolved: SessionRequest[]

  constructor(options: RequestDeskOptions, resolved: readonly SessionRequest[]) {
    this.#options = options
    this.#resolved = [...resolved]
  }

  get pendingCount(): number {
    return this.#pending.size
  }

  /** Newest last: the latest resolved ones, then what waits. */
  get all(): readonly SessionRequest[] {
    return [...this.#resolved, ...Array.from(this.#pending.values(), ({ request }) => request)]
  }

  /** Logs the request and resolves with its answer; never rejects but for a log that fails. */
  async ask(request: AgentRequest, turn: number, signal: AbortSignal): Promise<AgentAnswer> {
    const { clock, newId, sessionId, append } = this.#options
    const requestId = newId('r_')
    await append({ type: 'agent-prompt', requestId, request }, turn)
    const createdAt = new Date(clock.now()).toISOString()
    const resource: SessionRequest = { requestId, sessionId, turn, request, state: 'pending', createdAt }
    const answered = this.#wait(resource, signal)
    const byPolicy = await answerByPolicy(request, this.#options.mode, this.#options.roots)
    if (byPolicy !== undefined) await this.#resolve(requestId, byPolicy.answer, { type: 'policy', rule: byPolicy.rule })
    return answered
  }

  /** @throws `request_not_found`, `request_resolved`, `invalid_request` */
  async answer(requestId: string, answer: AgentAnswer, by: AnsweredBy): Promise<SessionRequest> {
    const pending = this.#pending.get(requestId)
    const done = this.#resolved.find((request) => request.requestId === requestId)
    if (pending === undefined && done === undefined) {
      throw new AgentprotoError('request_not_found', 'The session has no such request', {
        given: requestId,
        hint: 'List them with GET /sessions/:id/requests',
      })
    }
    const first = pending?.resolving ?? done?.answeredBy
    if (pending === undefined || first !== undefined) {
      throw new AgentprotoError('request_resolved', `The request was answered by ${nameOf(first)}`, {
        data: { answeredBy: first, answer: done?.answer },
      })
    }
    assertAnswer(pending.request.request, answer)
    await this.#resolve(requestId, answer, by)
    return this.#resolved.find((request) => request.requestId === requestId) as SessionRequest
  }

  /** Answers everything that waits with a cancellation. */
  async cancelAll(by: AnsweredBy): Promise<void> {
    await Promise.all(Array.from(this.#pending.keys(), (id) => this.#resolve(id, { outcome: 'cancelled' }, by)))
  }

  #wait(request: SessionRequest, signal: AbortSignal): Promise<AgentAnswer> {
    const { requestId } = request
    const withdrawn = (): void => void this.#resolve(requestId, { outcome: 'cancelled' }, { type: 'turn-end' })
    return new Promise((resolve) => {
      const timer = this.#options.clock.after(this.#options.timeoutMs, () => {
        void this.#resolve(requestId, denial(request.request), { type: 'timeout' })
      })
      const settle = (answer: AgentAnswer): void => {
        signal.removeEventListener('abort', withdrawn)
        timer.cancel()
        resolve(answer)
      }
      this.#pending.set(requestId, { request, settle, timer, resolving: undefined })
      this.#options.onChange()
      if (signal.aborted) withdrawn()
      else signal.addEventListener('abort', withdrawn, { once: true })
    })
  }

  /** The first to come decides; the answer is logged before the agent is told. */
  async #resolve(requestId: string, answer: AgentAnswer, by: AnsweredBy): Promise<void> {
    const pending = this.#pending.get(requestId)
    if (pending === undefined || pending.resolving !== undefined) return
    pending.resolving = by
    try {
      await this.#options.append({ type: 'agent-prompt-resolved', requestId, answer, by }, pending.request.turn)
    } finally {
      const resolvedAt = new Date(this.#options.clock.now()).toISOString()
      this.#pending.delete(requestId)
      this.#resolved.push({ ...pending.request, state: 'resolved', resolvedAt, answer, answeredBy: by })
      this.#resolved = this.#resolved.slice(-KEPT_RESOLVED)
      pending.settle(answer)
      this.#options.onChange()
    }
  }
}

function assertAnswer(request: AgentRequest, answer: AgentAnswer): void {
  if (answer.outcome === 'cancelled') return
  if (request.kind === 'question') {
    if (answer.outcome !== 'selected') return
    throw new AgentprotoError('invalid_request', 'A question takes no option', {
      expected: '{"action": "accept", "content": {…}}',
      given: answer,
    })
  }
  const known = request.options.map(({ optionId }) => optionId)
  if (answer.outcome === 'selected' && known.includes(answer.optionId)) return
  throw new AgentprotoError('invalid_request', 'The permission has no such option', {
    expected: `{"optionId": …} with one of ${known.join(', ')}`,
    given: answer,
  })
}

function nameOf(by: AnsweredBy | undefined): string {
  switch (by?.type) {
    case 'principal':
      return by.name
    case 'policy':
      return `the rule ${by.rule}`
    case 'timeout':
      return 'its time-out'
    case 'turn-end':
    case 'session-end':
      return 'the end of its turn'
    case undefined:
      return 'someone'
  }
}
