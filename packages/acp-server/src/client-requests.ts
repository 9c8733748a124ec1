import {
  type AgentRequest,
  asRecord,
  asString,
  isAgentprotoError,
  isRecord,
  type PermissionRequest,
  type QuestionRequest,
  type SessionEvent,
  toAgentprotoError,
} from '@agentproto/contracts'
import type { AnswerRequest } from '@agentproto/contracts/wire'
import type { ClientLink } from './client-link.js'
import { toolUpdate } from './event-updates.js'
import { requestMark } from './numbered-events.js'

/**
 * The agent's requests in one session that were sent to the client. Several clients may get the same request: the first
 * answer counts, and the request is withdrawn from the others.
 */
export class ClientRequests {
  readonly #link: ClientLink
  readonly #sessionId: string
  readonly #onUnused: (why: string) => void
  readonly #pending = new Map<string, AbortController>()
  #isClosed = false
  /** Whether a request may be open that the client was not asked, or whose answer may not have reached the session. */
  hasUnheard = false

  /** @param onUnused Called when an answer of the client does not count, because there was one before it */
  constructor(link: ClientLink, sessionId: string, onUnused: (why: string) => void) {
    this.#link = link
    this.#sessionId = sessionId
    this.#onUnused = onUnused
  }

  /** Sends a request to the client. @returns false if the client does not support it */
  ask(requestId: string, request: AgentRequest): boolean {
    if (this.#pending.has(requestId)) return true
    const asking = this.#link.mayAnswer(this.#sessionId) ? this.#asking(request) : undefined
    if (asking === undefined) return false
    const settled = new AbortController()
    this.#pending.set(requestId, settled)
    void this.#settle(requestId, asking, settled.signal)
    return true
  }

  /** Looks at an event of the history: a question that is still open when the history ends is asked then. */
  inHistory({ type }: SessionEvent): void {
    if (type === 'agent-prompt' || type === 'turn-end') this.hasUnheard = type === 'agent-prompt'
  }

  /** The request was answered elsewhere, or its turn is over: withdraws it. */
  resolved(requestId: string): void {
    this.#pending.get(requestId)?.abort()
    this.#pending.delete(requestId)
  }

  close(): void {
    this.#isClosed = true
    for (const pending of this.#pending.values()) pending.abort()
    this.#pending.clear()
  }

  #asking(request: AgentRequest): Asking | undefined {
    const sessionId = this.#sessionId
    if (request.kind === 'permission') return permissionAsking(sessionId, request)
    const { elicitation } = this.#link.capabilities
    return isRecord(elicitation?.[request.mode]) ? questionAsking(sessionId, request) : undefined
  }

  async #settle(requestId: string, { method, params, answerOf }: Asking, signal: AbortSignal): Promise<void> {
    let isAnswered = false
    try {
      const marked = this.#link.numbered ? { ...params, ...requestMark(requestId) } : params
      const answer = answerOf(await this.#link.request(method, marked, signal))
      if (signal.aborted || this.#isGone) return
      isAnswered = true
      await this.#link.sessions.answer(this.#sessionId, requestId, answer)
    } catch (thrown) {
      if (this.#isGone) return
      const code = isAgentprotoError(thrown) ? thrown.code : undefined
      // The log may have had the other answer sooner than this one was refused: nothing was withdrawn from the client then.
      if (isAnswered && isOneOf(UNUSED, code)) return this.#onUnused(toAgentprotoError(thrown).message)
      if (signal.aborted || isOneOf(OVER, code)) return
      // It stays pending: other clients may answer it, and this one may be asked again.
      this.#pending.delete(requestId)
      this.hasUnheard = true
      this.#link.problem(`${method} was not answered: ${toAgentprotoError(thrown).message}`)
    }
  }

  /** The client has left, or has closed the session. */
  get #isGone(): boolean {
    return this.#isClosed || this.#link.signal.aborted
  }
}

/** What a client is shown that may not answer, or cannot. */
export const awaiting = (id: string, request: AgentRequest): string =>
  `The agent asks${request.kind === 'question' ? `: ${request.message}` : ' for a permission'} (answer with: agentproto sessions answer ${id})`

/** An answer has no answer in ACP: a client that has decided otherwise would believe that it was heard. */
const UNUSED: readonly string[] = ['request_resolved', 'request_interrupted']
const OVER: readonly string[] = ['request_not_found', 'session_not_found']
const isOneOf = (codes: readonly string[], code: string | undefined): boolean =>
  code !== undefined && codes.includes(code)

/** A request to the client, and what its answer means. */
interface Asking {
  readonly method: string
  readonly params: object
  readonly answerOf: (result: unknown) => AnswerRequest
}

function permissionAsking(sessionId: string, { toolCall, options }: PermissionRequest): Asking {
  return {
    method: 'session/request_permission',
    params: { sessionId, toolCall: toolUpdate(toolCall), options },
    answerOf(result) {
      const outcome = asRecord(asRecord(result)['outcome'])
      const optionId = outcome['outcome'] === 'selected' ? asString(outcome['optionId']) : undefined
      return optionId === undefined ? { action: 'cancel' } : { optionId }
    },
  }
}

function questionAsking(sessionId: string, { mode, message, schema, url, toolCallId }: QuestionRequest): Asking {
  const shown = mode === 'form' ? { requestedSchema: schema } : { url, elicitationId: `${sessionId}-${url}` }
  return {
    method: 'elicitation/create',
    params: { sessionId, mode, message, ...shown, ...(toolCallId === undefined ? {} : { toolCallId }) },
    answerOf(result) {
      const { action, content } = asRecord(result)
      if (action === 'accept') return { action, ...(isRecord(content) ? { content } : {}) }
      return { action: action === 'decline' ? action : 'cancel' }
    },
  }
}
