import type {
  AnswerRequest,
  PermissionOption,
  Session,
  SessionEvent,
  SessionRequest,
  TurnEnd,
} from '@agentproto/contracts'
import { isAgentprotoError } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import type { TurnOutcome, TurnOutput } from './turn-output.js'

type Asked = Pick<SessionRequest, 'requestId' | 'request'>

export interface GivenAnswer {
  readonly answer: AnswerRequest
  /** Called when it was this answer that counted. */
  readonly onTaken?: () => void
}

/**
 * Finds the answer to a request that waits for a person; undefined leaves it to somebody else. Aborted when it was
 * answered meanwhile.
 */
export type Answerer = (asked: Asked, signal: AbortSignal) => Promise<GivenAnswer | undefined>

export interface FollowTurnOptions {
  readonly client: Client
  readonly session: Session
  readonly turn: number
  /** Follow events after this one; those of other turns are skipped. */
  readonly after: number
  readonly output: TurnOutput
  readonly answer: Answerer
  readonly signal: AbortSignal
}

/** Follows one turn to its end, answering what the agent asks. @throws `cancelled` when the signal aborts */
export async function followTurn(options: FollowTurnOptions): Promise<TurnOutcome> {
  const { client, session, turn, after, output, signal } = options
  const requests = new OpenRequests(options)
  const account = new TurnAccount(session, turn)
  try {
    for await (const event of client.sessions.events(session.id, { after, signal })) {
      if (event.turn !== turn && event.type !== 'session-stopped') continue
      account.take(event)
      output.event(event)
      if (event.type === 'agent-prompt') requests.open(event)
      if (event.type === 'agent-prompt-resolved') requests.close(event.requestId)
      if (event.type === 'turn-end' || event.type === 'session-stopped') break
    }
  } finally {
    requests.closeAll()
  }
  await requests.settled()
  const outcome = account.outcome()
  output.end(outcome)
  return outcome
}

/** Requests that wait for the person, asked one after the other. */
class OpenRequests {
  readonly #options: FollowTurnOptions
  readonly #waiting = new Map<string, AbortController>()
  #queue = Promise.resolve()

  constructor(options: FollowTurnOptions) {
    this.#options = options
  }

  open(asked: Asked): void {
    const abort = new AbortController()
    this.#waiting.set(asked.requestId, abort)
    this.#queue = this.#queue.then(() => this.#ask(asked, abort.signal))
    // Told by `settled`; until then it is nobody's unhandled rejection.
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

  /** Resolves when nobody is being asked any more. @throws what went wrong while asking */
  settled(): Promise<void> {
    return this.#queue
  }

  async #ask(asked: Asked, signal: AbortSignal): Promise<void> {
    if (signal.aborted || !(await this.#waits(asked.requestId))) return
    const { client, session, answer } = this.#options
    const given = await answer(asked, signal)
    if (given === undefined || signal.aborted) return
    try {
      await client.sessions.answer(session.id, asked.requestId, given.answer)
      given.onTaken?.()
    } catch (thrown) {
      // Somebody else was quicker, or the turn is over: both are in the log.
      if (!isAgentprotoError(thrown) || !['request_resolved', 'request_not_found'].includes(thrown.code)) throw thrown
    }
  }

  /** Most requests are answered by a mode or a rule, which the list tells when the log does not yet. */
  async #waits(requestId: string): Promise<boolean> {
    const { client, session } = this.#options
    const known = await client.sessions.requests(session.id)
    return known.some((each) => each.requestId === requestId && each.state === 'pending')
  }
}

/** Adds up a turn from its events. */
class TurnAccount {
  readonly #session: Session
  readonly #turn: number
  readonly #texts: string[] = []
  readonly #options = new Map<string, readonly PermissionOption[]>()
  #refused = 0
  #error: string | undefined
  #end: TurnEnd | undefined
  #startedAt: number | undefined
  #endedAt = 0

  constructor(session: Session, turn: number) {
    this.#session = session
    this.#turn = turn
  }

  take(event: SessionEvent): void {
    this.#endedAt = Date.parse(event.ts)
    this.#startedAt ??= this.#endedAt
    if (event.type === 'text-delta') this.#texts.push(event.text)
    if (event.type === 'error') this.#error = event.message
    if (event.type === 'turn-end') this.#end = event
    if (event.type === 'session-stopped') this.#error ??= event.failure?.summary
    if (event.type === 'agent-prompt' && event.request.kind === 'permission')
      this.#options.set(event.requestId, event.request.options)
    if (event.type === 'agent-prompt-resolved') this.#resolved(event)
  }

  outcome(): TurnOutcome {
    const { reason = 'session-ended', empty = false, usage } = this.#end ?? {}
    return {
      sessionId: this.#session.id,
      adapter: this.#session.adapterSlug,
      cwd: this.#session.cwd,
      turn: this.#turn,
      reason,
      empty,
      text: this.#texts.join(''),
      refused: this.#refused,
      ...(this.#error === undefined ? {} : { error: this.#error }),
      ...(usage === undefined ? {} : { usage }),
      durationMs: this.#endedAt - (this.#startedAt ?? this.#endedAt),
    }
  }

  #resolved({ requestId, answer, by }: SessionEvent & { readonly type: 'agent-prompt-resolved' }): void {
    const options = this.#options.get(requestId)
    // A request that fell with its turn was refused by nobody.
    if (options === undefined || by.type === 'turn-end' || by.type === 'session-end') return
    const chosen =
      answer.outcome === 'selected' ? options.find(({ optionId }) => optionId === answer.optionId) : undefined
    if (chosen === undefined || chosen.kind.startsWith('reject')) this.#refused += 1
  }
}
