import {
  type AgentAnswer,
  type AgentRequest,
  type AnsweredBy,
  defined,
  type SessionEvent,
  type SessionRequest,
} from '@agentproto/contracts'
import type { LogEntry } from '../log/event-record.js'
import { denial } from '../permissions/permission-policy.js'
import { answeredBefore, interruptedBefore, misfitOf, noSuchRequest } from '../requests/request-answer.js'
import { countThatFits, MAX_ASKED_CHARS, MAX_KEPT_CHARS } from '../requests/request-size.js'
import type { InputOf } from './input.js'
import {
  andThen,
  type Ask,
  type Effect,
  openTurn,
  pendingRequests,
  type SessionState,
  step,
  type Step,
  URGENT,
} from './state.js'

/** What the agent asks in the middle of a turn: logged, then answered once, by a person, a rule or the clock. */

const KEPT_RESOLVED = 100
const CANCELLED: AgentAnswer = { outcome: 'cancelled' }
const TOO_MUCH = 'The requests that wait are too large together. Ask again when they are answered.'

/** The agent asks. Nothing is logged before the policy was asked: a person must not be quicker than the policy. */
export function asked(state: SessionState, input: InputOf<'asked'>): Step {
  const { call, requestId, request } = input
  const turn = openTurn(state)
  if (turn === undefined || turn.cancelled !== undefined || state.isMuted)
    return step(state, { do: 'reply', call, value: CANCELLED })
  if (!fits(state, request)) return step(state, { do: 'reply', call, value: denial(request, TOO_MUCH) })
  const ask: Ask = { call, requestId, request, turn: turn.number, isLogged: false, isForPerson: false }
  return step({ ...state, asks: [...state.asks, ask] }, { do: 'judge', requestId, request })
}

/** The agent of an earlier host waits again for an answer: the one that the log has, or the one that is still to come. */
export function askedAgain(state: SessionState, input: InputOf<'asked-again'>): Step {
  const { call, requestId, request, isForPerson, onlyNew } = input
  const known = requestOf(state, requestId)
  if (known?.state !== 'pending' || openTurn(state)?.number !== known.turn)
    return step(state, { do: 'reply', call, value: (onlyNew ? undefined : known?.answer) ?? CANCELLED })
  const ask: Ask = { call, requestId, request, turn: known.turn, isLogged: true, isForPerson }
  return step({ ...state, asks: [...state.asks, ask] }, ...timeLimit(state, known))
}

/** What an adopted agent has not asked again waits for no answer: a person is not asked for it, and the time is the agent's. */
export function dropUnasked(state: SessionState): Step {
  const unasked = pendingRequests(state).filter(({ requestId }) => askOf(state, requestId) === undefined)
  if (unasked.length === 0) return step(state)
  const by: AnsweredBy = { type: 'gateway-end' }
  const groups = unasked.map(({ requestId, turn }) => ({
    entries: [resolution(state, requestId, { answer: CANCELLED, by })],
    turn,
  }))
  return step(state, { do: 'append', groups })
}

/** A list of all that waits must stay small enough to be sent. */
function fits({ asks }: SessionState, request: AgentRequest): boolean {
  const all = [...asks.map((ask) => ask.request), request]
  return countThatFits(all, MAX_ASKED_CHARS) === all.length
}

/** The policy has decided, or leaves it to a person; request and answer are one write, so that no reader sees only the first. */
export function judged(state: SessionState, { requestId, verdict }: InputOf<'judged'>): Step {
  const ask = askOf(state, requestId)
  // Its turn may have ended meanwhile.
  if (ask === undefined || ask.isLogged) return step(state)
  const { said, isForPerson, facts } = verdict
  const logged = { ...ask, isLogged: true, isForPerson }
  const asks = state.asks.map((each) => (each === ask ? logged : each))
  const entries: LogEntry[] = [{ type: 'agent-prompt', requestId, request: ask.request, ...defined({ facts }) }]
  if (said !== undefined)
    entries.push(resolution(state, requestId, { answer: said.answer, by: { type: 'policy', rule: said.rule } }))
  return step({ ...state, asks }, { do: 'append', groups: [{ entries, turn: ask.turn }] })
}

/**
 * Answers a request for a person; with `remember`, also one that was interrupted, for the next time it is asked.
 * @throws as {@link answerable}
 */
export function answer(
  state: SessionState,
  { call, requestId, answer: given, by }: InputOf<'answer'>,
  now: number,
): Step {
  const reply: Effect = { do: 'reply', call }
  if (answerable(state, requestId, given).state === 'pending')
    return andThen(resolve(state, requestId, { answer: given, by }), (after) => step(after, reply))
  const ts = new Date(now).toISOString()
  return step({ ...state, requests: settled(state.requests, { requestId, answer: given, by, ts }) }, URGENT, reply)
}

/** A rule or the mode answers a request that waits, if it still does. */
export function policyAnswer(state: SessionState, { requestId, said }: InputOf<'policy-answer'>): Step {
  if (askOf(state, requestId)?.isForPerson === true) return step(state)
  return resolve(state, requestId, { answer: said.answer, by: { type: 'policy', rule: said.rule } })
}

/** The agent takes its request back. */
export function withdrawn(state: SessionState, requestId: string): Step {
  const ask = askOf(state, requestId)
  if (ask === undefined) return step(state)
  if (ask.isLogged) return resolve(state, requestId, { answer: CANCELLED, by: { type: 'turn-end' } })
  return step(without(state, [ask]), { do: 'reply', call: ask.call, value: CANCELLED })
}

/** The time for an answer is over. */
export function requestOver(state: SessionState, requestId: string): Step {
  const request = requestOf(state, requestId)
  if (request === undefined) return step(state)
  const reason = `No one answered within ${requestTimeoutMs(state) / 1_000} s.`
  return resolve(state, requestId, { answer: denial(request.request, reason), by: { type: 'timeout' } })
}

/** Answers everything that waits with a cancellation. */
export function cancelAsks(state: SessionState): Step {
  const unlogged = state.asks.filter(({ isLogged }) => !isLogged)
  const replies = unlogged.map(({ call }): Effect => ({ do: 'reply', call, value: CANCELLED }))
  const entries = resolutions(state, { type: 'turn-end' })
  const turn = openTurn(state)?.number
  const append: Effect[] = entries.length === 0 ? [] : [{ do: 'append', groups: [{ entries, turn }] }]
  return step(without(state, unlogged), ...replies, ...append)
}

/** Cancellations of all pending requests. */
export const resolutions = (state: SessionState, by: AnsweredBy): LogEntry[] =>
  pendingRequests(state).map(({ requestId }) => resolution(state, requestId, { answer: CANCELLED, by }))

/** The log has a request. */
export function requestOpened(state: SessionState, event: SessionEvent & { readonly type: 'agent-prompt' }): Step {
  const { requestId, request, facts, cut, turn = 0, ts: createdAt, sessionId } = event
  const about = { requestId, sessionId, turn, request, ...defined({ facts, cut }) }
  const resource: SessionRequest = { ...about, state: 'pending', createdAt }
  // The record may have it already when the log is read again.
  const others = state.requests.filter((each) => each.requestId !== requestId)
  const after = awaiting({ ...state, requests: [...others, resource] })
  const isAsked = askOf(state, requestId) !== undefined
  return step(after, ...(isAsked ? timeLimit(state, resource) : []), URGENT)
}

function timeLimit(state: SessionState, { requestId, createdAt }: SessionRequest): Effect[] {
  const limit = requestTimeoutMs(state)
  return limit > 0 ? [{ do: 'arm', timer: `request ${requestId}`, at: Date.parse(createdAt) + limit }] : []
}

/** The log has the answer to a request. */
export function requestResolved(
  state: SessionState,
  { requestId, answer: given, by, ts }: SessionEvent & { readonly type: 'agent-prompt-resolved' },
): Step {
  const ask = askOf(state, requestId)
  const requests = settled(state.requests, { requestId, answer: given, by, ts })
  const after = awaiting(without({ ...state, requests }, ask === undefined ? [] : [ask]))
  const reply: Effect[] = ask === undefined ? [] : [{ do: 'reply', call: ask.call, value: given }]
  return step(after, { do: 'disarm', timer: `request ${requestId}` }, ...reply, URGENT)
}

/** The turn has ended, so nothing of it is asked any more. */
export function dropAsks(state: SessionState): Step {
  const replies = state.asks.map(({ call }): Effect => ({ do: 'reply', call, value: CANCELLED }))
  return step(without(state, state.asks), ...replies)
}

/** Requests without an answer at the end of the gateway, where the log has no turn for a cancellation. */
export function interruptRequests(state: SessionState, ts: string): SessionState {
  const by: AnsweredBy = { type: 'gateway-end' }
  const requests = pendingRequests(state).reduce(
    (all, { requestId }) => settled(all, { requestId, answer: CANCELLED, by, ts }),
    state.requests,
  )
  return { ...state, requests }
}

/**
 * The request that an answer is for.
 * @throws `request_not_found`, `request_resolved`, `request_interrupted`, `invalid_request`
 */
export function answerable(state: SessionState, requestId: string, given: AgentAnswer): SessionRequest {
  const request = requestOf(state, requestId)
  if (request === undefined) throw noSuchRequest(requestId)
  const isAhead = given.outcome === 'selected' && given.remember !== undefined
  if (request.state === 'resolved') throw answeredBefore(request)
  if (request.state === 'interrupted' && !isAhead) throw interruptedBefore(request)
  const misfit = misfitOf(request.request, given)
  if (misfit !== undefined) throw misfit
  return request
}

export const requestOf = ({ requests }: SessionState, requestId: string): SessionRequest | undefined =>
  requests.find((request) => request.requestId === requestId)

/** What the start of the session says goes before the setting of the gateway; 0 for no limit. */
const requestTimeoutMs = ({ spawn, config }: SessionState): number => spawn.requestTimeoutMs ?? config.requestTimeoutMs

interface Given {
  readonly answer: AgentAnswer
  readonly by: AnsweredBy
}

function resolve(state: SessionState, requestId: string, given: Given): Step {
  const request = requestOf(state, requestId)
  if (request?.state !== 'pending') return step(state)
  const entries = [resolution(state, requestId, given)]
  return step(state, { do: 'append', groups: [{ entries, turn: request.turn }] })
}

/** A request that is cancelled while its agent is being ended is cancelled by that end, whichever input comes first. */
function resolution({ run }: SessionState, requestId: string, { answer: given, by }: Given): LogEntry {
  const isEnd = by.type === 'turn-end' || by.type === 'session-end'
  if (run.phase !== 'stopping' || given.outcome !== 'cancelled' || !isEnd)
    return { type: 'agent-prompt-resolved', requestId, answer: given, by }
  const type = run.cause.stopReason === 'shutdown' ? 'gateway-end' : 'session-end'
  return { type: 'agent-prompt-resolved', requestId, answer: given, by: { type } }
}

/** Distinguishes a turn that waits for a person from a working one. */
function awaiting(state: SessionState): SessionState {
  const { session } = state
  if (session.turn.state === 'idle') return state
  const turnState = pendingRequests(state).length > 0 ? 'awaiting-input' : 'busy'
  return { ...state, session: { ...session, turn: { ...session.turn, state: turnState } } }
}

function settled(
  requests: readonly SessionRequest[],
  { requestId, answer: given, by, ts }: Given & { readonly requestId: string; readonly ts: string },
): readonly SessionRequest[] {
  const request = requests.find((each) => each.requestId === requestId)
  if (request === undefined) return requests
  const others = requests.filter((each) => each !== request)
  const resolved = others.filter(({ state }) => state !== 'pending')
  const done: SessionRequest = {
    ...request,
    state: by.type === 'gateway-end' ? 'interrupted' : 'resolved',
    resolvedAt: ts,
    answer: given,
    answeredBy: by,
  }
  return [...kept([...resolved, done]), ...others.filter(({ state }) => state === 'pending')]
}

/** The newest ones. */
function kept(resolved: readonly SessionRequest[]): readonly SessionRequest[] {
  const newest = resolved.slice(-KEPT_RESOLVED).toReversed()
  const requests = newest.map(({ request }) => request)
  return newest.slice(0, countThatFits(requests, MAX_KEPT_CHARS)).toReversed()
}

const askOf = ({ asks }: SessionState, requestId: string): Ask | undefined =>
  asks.find((ask) => ask.requestId === requestId)

const without = (state: SessionState, asks: readonly Ask[]): SessionState =>
  asks.length === 0 ? state : { ...state, asks: state.asks.filter((ask) => !asks.includes(ask)) }
