import {
  type AgentPromptResolved,
  defined,
  isAgentprotoError,
  type PermissionOption,
  type Session,
  type SessionEvent,
  TurnCollector,
  type TurnResult,
} from '@agentproto/contracts'
import type { AnswerRequest } from '@agentproto/contracts/wire'
import type { Client } from '@agentproto/client'
import type { AskedRequest } from '../render/request-content.js'
import type { TurnOutcome, TurnOutput } from './turn-output.js'

interface GivenAnswer {
  readonly answer: AnswerRequest
  /** Called when the gateway accepts this answer. */
  readonly onAccepted?: () => void
}

/** Finds the answer to a pending request; undefined leaves it to others. The signal aborts when it was answered. */
export type Answerer = (asked: AskedRequest, signal: AbortSignal) => Promise<GivenAnswer | undefined>

interface FollowTurnOptions {
  readonly client: Client
  readonly session: Session
  readonly turn: number
  /** Read events after this one; those of other turns are skipped. */
  readonly after: number
  readonly output: TurnOutput
  readonly answer: Answerer
  readonly signal: AbortSignal
}

/** Follows one turn to its end, and answers the requests of the agent. @throws `cancelled` when the signal aborts */
export async function followTurn(options: FollowTurnOptions): Promise<TurnOutcome> {
  const { client, session, turn, after, output, signal } = options
  const requests = new OpenRequests(options)
  const collector = new TurnCollector(turn)
  const refused = new RefusedRequests()
  let result: TurnResult | undefined
  try {
    for await (const event of client.sessions.events(session.id, { after, signal })) {
      if (event.turn !== turn && event.type !== 'session-stopped') continue
      result = collector.add(event)
      refused.add(event)
      output.event(event)
      if (event.type === 'agent-prompt') requests.open({ ...event, session })
      if (event.type === 'agent-prompt-resolved') requests.close(event.requestId)
      if (event.type === 'turn-end' || event.type === 'session-stopped') break
    }
  } finally {
    requests.closeAll()
  }
  await requests.settled()
  const outcome = outcomeOf(session, result ?? collector.soFar(), refused.count)
  output.end(outcome)
  return outcome
}

/** Pending requests, asked one after the other. */
class OpenRequests {
  readonly #options: FollowTurnOptions
  readonly #waiting = new Map<string, AbortController>()
  #queue = Promise.resolve()

  constructor(options: FollowTurnOptions) {
    this.#options = options
  }

  open(asked: AskedRequest): void {
    const abort = new AbortController()
    this.#waiting.set(asked.requestId, abort)
    this.#queue = this.#queue.then(() => this.#ask(asked, abort.signal))
    // `settled` reports the error; until then it must not count as an unhandled rejection.
    this.#queue.catch(() => undefined)
  }

  close(requestId: string): void {
    this.#waiting.get(requestId)?.abort()
    this.#waiting.delete(requestId)
  }

  closeAll(): void {
    for (const abort of this.#waiting.values()) abort.abort()
    this.#waiting.clear()
  }

  /** Resolves when no question is open. @throws the first error of a question */
  settled(): Promise<void> {
    return this.#queue
  }

  async #ask(asked: AskedRequest, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const { client, session, answer } = this.#options
    // Most requests are answered by a mode or a rule, which the list shows before the log does.
    const known = await client.sessions.requests(session.id)
    if (!known.some(({ requestId, state }) => requestId === asked.requestId && state === 'pending')) return
    const given = await answer(asked, signal)
    if (given === undefined || signal.aborted) return
    try {
      await client.sessions.answer(session.id, asked.requestId, given.answer)
      given.onAccepted?.()
    } catch (thrown) {
      // Another client was quicker, or the turn has ended. The log shows both.
      if (!isAgentprotoError(thrown) || !['request_resolved', 'request_not_found'].includes(thrown.code)) throw thrown
    }
  }
}

/** Counts the permission requests of a turn that were refused. */
class RefusedRequests {
  readonly #options = new Map<string, readonly PermissionOption[]>()
  count = 0

  add(event: SessionEvent): void {
    if (event.type === 'agent-prompt' && event.request.kind === 'permission')
      this.#options.set(event.requestId, event.request.options)
    if (event.type === 'agent-prompt-resolved' && this.#isRefusal(event)) this.count += 1
  }

  #isRefusal({ requestId, answer, by }: AgentPromptResolved): boolean {
    const options = this.#options.get(requestId)
    // A request that ended with its turn was not refused.
    if (options === undefined || by.type === 'turn-end' || by.type === 'session-end') return false
    if (answer.outcome !== 'selected') return true
    return options.find(({ optionId }) => optionId === answer.optionId)?.kind.startsWith('reject') ?? true
  }
}

function outcomeOf(session: Session, result: TurnResult, refused: number): TurnOutcome {
  const { number: turn, reason = 'session-ended', empty = false, text, error, usage, durationMs = 0 } = result
  const { id: sessionId, adapterSlug: adapter, cwd } = session
  return { sessionId, adapter, cwd, turn, reason, empty, text, refused, ...defined({ error, usage }), durationMs }
}
