import {
  type AgentAnswer,
  type AgentRequest,
  type AnsweredBy,
  type Clock,
  type NewId,
  type SessionEvent,
  type SessionRequest,
  type Timer,
} from '@agentproto/contracts'
import type { LogEntry } from '../log/event-record.js'
import { denial, type PolicyAnswer } from '../permissions/permission-policy.js'
import { answeredBefore, assertAnswer, fitsRequest, interruptedBefore, noSuchRequest } from './request-answer.js'
import type { GateVerdict } from './request-gate.js'

/** What the agent asks in the middle of a turn: logged, answered once by a person, a rule or the clock. */

export interface RequestDeskOptions {
  readonly sessionId: string
  readonly clock: Clock
  readonly newId: NewId
  /** After this much silence a request is denied, in milliseconds. */
  readonly timeoutMs: number
  readonly append: (entry: LogEntry, turn: number) => Promise<void>
  readonly onChange: () => void
  /** Looks at a request before it is logged; absent for nobody. Never rejects. */
  readonly gate?: ((request: AgentRequest) => Promise<GateVerdict>) | undefined
  /** What a rule or the permission mode says; undefined when a person has to be asked. */
  readonly decide: (request: AgentRequest) => Promise<PolicyAnswer | undefined>
  /**
   * Prepares to remember an answer.
   * @returns what makes the rule, called once the answer holds
   * @throws `invalid_request` when it cannot be remembered
   */
  readonly remember: (request: SessionRequest, answer: AgentAnswer, by: AnsweredBy) => Promise<() => Promise<void>>
}

const KEPT_RESOLVED = 100

interface Pending {
  readonly request: SessionRequest
  readonly settle: (answer: AgentAnswer) => void
  readonly timer: Timer
  resolving: AnsweredBy | undefined
}

type Asked = Pick<SessionRequest, 'request' | 'requestId' | 'turn'>

interface Opened {
  /** In an object, so that whoever waits for the opening does not wait for the answer. */
  readonly answered: Promise<AgentAnswer>
}

export class RequestDesk {
  readonly #options: RequestDeskOptions
  readonly #pending = new Map<string, Pending>()
  #resolved: SessionRequest[]
  /** Why nothing more of this run is answered by anybody. */
  #ending: AnsweredBy | undefined
  /** In the log, and not through the policy yet. */
  readonly #opening = new Set<Promise<Opened>>()
  /** What neither a rule nor a mode may answer. */
  readonly #byPerson = new WeakSet<AgentRequest>()
  /** How often everything was cancelled; what is not logged yet would be missed. */
  #cancels = 0

  constructor(options: RequestDeskOptions, known: readonly SessionRequest[]) {
    this.#options = options
    this.#resolved = [...known]
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
    const { newId, gate, decide } = this.#options
    const cancels = this.#cancels
    const verdict = gate && (await gate(request))
    // The turn may be over by now: then the log has no place for the question any more.
    if (gate !== undefined && (signal.aborted || cancels !== this.#cancels)) return { outcome: 'cancelled' }
    const requestId = newId('r_')
    // Before anybody sees it: whoever answers what he sees must not be quicker than the policy.
    const said = verdict === undefined ? await decide(request) : saidByGate(request, verdict)
    if (verdict !== undefined && said === undefined) this.#byPerson.add(request)
    const opening = this.#open({ request, requestId, turn }, signal, said).finally(() => this.#opening.delete(opening))
    this.#opening.add(opening)
    const { answered } = await opening
    return answered
  }

  /** Resolves when the policy has had its say on all that the log tells: what waits then waits for a person. */
  async decided(): Promise<void> {
    await Promise.allSettled(this.#opening)
  }

  /**
   * Answers a request that waits; with `remember`, also one that was interrupted, for the next time it is asked.
   * @throws `request_not_found`, `request_resolved`, `request_interrupted`, `invalid_request`
   */
  async answer(requestId: string, answer: AgentAnswer, by: AnsweredBy): Promise<SessionRequest> {
    const { request } = this.#answerable(requestId, answer)
    assertAnswer(request.request, answer)
    const wanted = answer.outcome === 'selected' && answer.remember !== undefined
    // What cannot be remembered is refused before anybody is told anything; meanwhile others may have been quicker.
    const remember = wanted ? await this.#options.remember(request, answer, by) : undefined
    const { pending } = this.#answerable(requestId, answer)
    if (pending === undefined) this.#settled({ ...request, state: 'resolved', answer, answeredBy: by })
    else await this.#resolve(requestId, answer, by)
    await remember?.()
    return this.#known(requestId) ?? request
  }

  /** A rule was made, or the mode was changed: what waits may be answered by it. */
  async review(): Promise<void> {
    await Promise.all(Array.from(this.#pending.values(), ({ request }) => this.#byPolicy(request)))
  }

  /** Answers everything that waits with a cancellation. */
  async cancelAll(by: AnsweredBy): Promise<void> {
    this.#cancels += 1
    await Promise.all(Array.from(this.#pending.keys(), (id) => this.#resolve(id, { outcome: 'cancelled' }, by)))
  }

  /** The agent is being ended: what is cancelled from now on ends for this reason, whoever is told first. */
  ends(by: AnsweredBy): void {
    this.#ending = by
  }

  /** A new run of the agent. */
  begins(): void {
    this.#ending = undefined
  }

  /** Follows an event of the log that the stored record may not know of. */
  replay(event: SessionEvent): void {
    const { sessionId } = this.#options
    if (event.type === 'agent-prompt') {
      const { requestId, request, turn = 0, ts: createdAt } = event
      this.#settled({ requestId, sessionId, turn, request, state: 'pending', createdAt })
    }
    if (event.type !== 'agent-prompt-resolved') return
    const asked = this.#known(event.requestId)
    if (asked !== undefined) this.#settled(resolvedWith(asked, event))
  }

  /** Nobody had answered it when the gateway ended. */
  interrupted(requestId: string): void {
    const asked = this.#known(requestId)
    const ts = new Date(this.#options.clock.now()).toISOString()
    if (asked) this.#settled(resolvedWith(asked, { answer: { outcome: 'cancelled' }, by: { type: 'gateway-end' }, ts }))
  }

  async #open(asked: Asked, signal: AbortSignal, said: PolicyAnswer | undefined): Promise<Opened> {
    const { clock, sessionId, append } = this.#options
    const { requestId, request, turn } = asked
    await append({ type: 'agent-prompt', requestId, request }, turn)
    const createdAt = new Date(clock.now()).toISOString()
    const resource: SessionRequest = { ...asked, sessionId, state: 'pending', createdAt }
    const answered = this.#wait(resource, signal)
    if (said !== undefined) await this.#resolve(requestId, said.answer, { type: 'policy', rule: said.rule })
    // Meanwhile the mode may have been changed.
    else await this.#byPolicy(resource)
    return { answered }
  }

  async #byPolicy({ requestId, request }: SessionRequest): Promise<void> {
    if (this.#byPerson.has(request)) return
    const said = await this.#options.decide(request)
    if (said !== undefined) await this.#resolve(requestId, said.answer, { type: 'policy', rule: said.rule })
  }

  #wait(request: SessionRequest, signal: AbortSignal): Promise<AgentAnswer> {
    const { requestId } = request
    const { clock, timeoutMs } = this.#options
    const withdrawn = (): void => void this.#resolve(requestId, { outcome: 'cancelled' }, { type: 'turn-end' })
    return new Promise((resolve) => {
      const timer = clock.after(timeoutMs, () => {
        const reason = `Nobody answered within ${timeoutMs / 1_000} s.`
        void this.#resolve(requestId, denial(request.request, reason), { type: 'timeout' })
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
  async #resolve(requestId: string, answer: AgentAnswer, given: AnsweredBy): Promise<void> {
    const pending = this.#pending.get(requestId)
    if (pending === undefined || pending.resolving !== undefined) return
    const by = answer.outcome === 'cancelled' && isEnd(given) ? (this.#ending ?? given) : given
    pending.resolving = by
    try {
      await this.#options.append({ type: 'agent-prompt-resolved', requestId, answer, by }, pending.request.turn)
    } finally {
      const ts = new Date(this.#options.clock.now()).toISOString()
      this.#pending.delete(requestId)
      this.#settled(resolvedWith(pending.request, { answer, by, ts }))
      pending.settle(answer)
      this.#options.onChange()
    }
  }

  /** @throws `request_not_found`, `request_resolved`, `request_interrupted` */
  #answerable(
    requestId: string,
    answer: AgentAnswer,
  ): { readonly request: SessionRequest; readonly pending?: Pending } {
    const pending = this.#pending.get(requestId)
    if (pending !== undefined && pending.resolving === undefined) return { request: pending.request, pending }
    const request = pending?.request ?? this.#known(requestId)
    if (request === undefined) throw noSuchRequest(requestId)
    const ahead = answer.outcome === 'selected' && answer.remember !== undefined
    if (request.state !== 'interrupted') throw answeredBefore(request, pending?.resolving)
    if (!ahead) throw interruptedBefore(request)
    return { request }
  }

  #known(requestId: string): SessionRequest | undefined {
    return this.#resolved.find((request) => request.requestId === requestId)
  }

  /** Takes the place of what was known of the request. */
  #settled(request: SessionRequest): void {
    const others = this.#resolved.filter(({ requestId }) => requestId !== request.requestId)
    this.#resolved = [...others, request].slice(-KEPT_RESOLVED)
  }
}

const isEnd = ({ type }: AnsweredBy): boolean => type === 'turn-end' || type === 'session-end'

interface Resolution {
  readonly answer: AgentAnswer
  readonly by: AnsweredBy
  readonly ts: string
}

function resolvedWith(request: SessionRequest, { answer, by, ts: resolvedAt }: Resolution): SessionRequest {
  const state = by.type === 'gateway-end' ? 'interrupted' : 'resolved'
  return { ...request, state, resolvedAt, answer, answeredBy: by }
}

/** Undefined leaves it to a person. */
function saidByGate(request: AgentRequest, verdict: NonNullable<GateVerdict>): PolicyAnswer | undefined {
  if ('person' in verdict) return undefined
  const answer = 'deny' in verdict ? denial(request, verdict.deny) : verdict.answer
  return fitsRequest(request, answer) ? { answer, rule: 'hook onRequest' } : undefined
}
