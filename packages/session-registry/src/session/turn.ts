import {
  AgentprotoError,
  type ContentBlock,
  defined,
  type IdempotencyDigests,
  type PromptContextPart,
  type UserPrompt,
} from '@agentproto/contracts'
import type { AgentSignal } from '@agentproto/contracts/agent'
import { BOUNDS } from '@agentproto/contracts/wire'
import { endedError, failureOf, startingError } from '../lifecycle/ending.js'
import { movedError } from '../lifecycle/moved.js'
import { givenUpError, isGivenUp } from '../lifecycle/resume-backoff.js'
import type { LogEntry } from '../log/event-record.js'
import { standingContextOf } from './envelope.js'
import type { InputOf } from './input.js'
import { closing, stopQueue, unsentTurn } from './closing.js'
import { type Outgoing, type QueuedPrompt, waitingCount } from './queued-prompt.js'
import { cancelAsks, resolutions } from './requests.js'
import { end } from './run.js'
import { endByBudget, usedUp } from '../usage/budget.js'
import { budgetError } from '../usage/budget-share.js'
import {
  andThen,
  type Effect,
  IDLE,
  mayHaveBudget,
  openTurn,
  type OpenTurn,
  type SessionState,
  step,
  type Step,
  URGENT,
} from './state.js'

/** One turn at a time: admission, the agent's output, interruption, and an end in any case. */

/** Admits a prompt, queues it, or refuses it. Replies with the turn's number. */
export function prompt(state: SessionState, input: InputOf<'prompt'>, now: number): Step {
  const { call, whenBusy = 'reject' } = input
  if (state.run.phase !== 'running') return step(state, { do: 'reject', call, error: refusalOf(state) })
  const over = state.standings.length === 0 ? undefined : usedUp(state, now)
  if (state.turn.phase === 'idle' && state.queue.length === 0) {
    if (over === undefined) return begin(state, input)
    return andThen(step(state, { do: 'reject', call, error: budgetError(over) }), (after) => endByBudget(after, over))
  }
  if (whenBusy !== 'reject' && over !== undefined) return step(state, { do: 'reject', call, error: budgetError(over) })
  switch (whenBusy) {
    case 'reject':
      return step(state, { do: 'reject', call, error: inProgress(state) })
    case 'queue':
      return enqueue(state, input, { now, isInterrupting: false })
    case 'interrupt':
      return interruptFor(state, input, now)
  }
}

/** Ends the running turn and stops the queue; with a number, that turn alone. Replies when it has ended. */
export function interrupt(state: SessionState, { call, turn: only }: InputOf<'interrupt'>, now: number): Step {
  const running = openTurn(state)
  if (only !== undefined && only !== running?.number)
    return withdraw(state, { call, place: only - state.session.turnCount })
  const stopped = only === undefined ? stopQueue(state) : state
  const saved = savedQueue(stopped)
  if (running === undefined) return step(stopped, ...saved, { do: 'reply', call, value: { wasBusy: false } }, URGENT)
  const turn = { ...running, interrupters: [...running.interrupters, call] }
  return andThen(step({ ...stopped, turn }, ...saved), (after) => cancelTurn(after, { cancelled: 'interrupted', now }))
}

/** Ends a turn that has been silent for too long; its end says `timeout`. */
export function cancelSilent(state: SessionState, now: number): Step {
  const stopped = stopQueue(state)
  return andThen(step(stopped, ...savedQueue(stopped)), (after) => cancelTurn(after, { cancelled: 'silent', now }))
}

/** An earlier host has cancelled the turn, as far as is known for a caller. The agent may get the cancel twice. */
export const cancelAgain = (state: SessionState, now: number): Step =>
  cancelTurn(state, { cancelled: 'interrupted', now })

/** The agent did not end a cancelled turn in time. */
export function graceOver(state: SessionState): Step {
  const { interruptGraceMs, cancelGraceMs } = state.config
  const cancelled = openTurn(state)?.cancelled
  // Its end may have been stored while the timer waited in the mailbox.
  if (cancelled === undefined) return step(state)
  const summary =
    cancelled === 'silent'
      ? `The turn was silent and did not end within ${cancelGraceMs} ms of being cancelled`
      : `The agent did not end its turn within ${interruptGraceMs} ms of being interrupted`
  return end(state, { status: 'killed', stopReason: 'timeout', failure: failureOf('timeout', summary) })
}

/** Logs what the agent emits: in its turn, or as stray events when none is open. */
export function signals(state: SessionState, { batch }: InputOf<'signals'>): Step {
  if (state.isMuted || state.run.phase === 'ended') return step(state)
  const turn = openTurn(state)
  if (turn === undefined) return step(state, { do: 'append', groups: [{ entries: batch.map(outsideTurn) }] })
  const last = batch.findIndex(({ type }) => type === 'turn-end')
  // The short path: output within a turn changes nothing but the turn's activity.
  if (last < 0) return step(state, { do: 'append', groups: [{ entries: batch, turn: turn.number }] })
  const within = batch.slice(0, last + 1)
  const entries = turn.cancelled === 'silent' ? within.map(asTimeout) : within
  const groups = [
    { entries: [...resolutions(state, { type: 'turn-end' }), ...entries], turn: turn.number },
    { entries: batch.slice(last + 1).map(outsideTurn) },
  ]
  return step(state, { do: 'append', groups })
}

/** The agent is done with a prompt. Its turn ends now in any case. */
export function sendSettled(state: SessionState, { turn, error }: InputOf<'send-settled'>): Step {
  const idle = { ...state, isSending: false }
  const open = openTurn(idle)
  // A turn that the end of its session leaves open says why the session ended.
  if (idle.run.phase === 'stopping') return step(idle)
  if (open === undefined) return idle.queue.length > 0 ? step(idle, { do: 'next' }) : step(idle)
  if (open.unsent !== undefined) return send(idle)
  if (open.number !== turn) return step(idle)
  const message = error ?? 'The agent settled the prompt without ending its turn'
  return step(idle, {
    do: 'append',
    groups: [closing(idle, { turn: open, reason: 'error', error: { message } })],
    hold: true,
  })
}

/** Begins the next queued turn when none runs. A stopped prompt has its turn too, so that its number is never reused. */
export function next(state: SessionState, now: number): Step {
  const [waiting] = state.queue
  if (waiting === undefined || state.turn.phase !== 'idle' || state.isSending || state.run.phase !== 'running')
    return step(state)
  const over = waiting.isStopped ? undefined : usedUp(state, now)
  if (over !== undefined) return endByBudget(state, over)
  if (!waiting.isStopped) return begin(state, { ...waiting, origin: 'queue', waited: waiting })
  const groups = [unsentTurn(waiting, state.session.turnCount + 1)]
  return step(state, { do: 'append', groups, hold: true }, { do: 'next' })
}

/** Sends the prompt of an open turn, unless the agent is still busy with the last one, or the folder is being recorded. */
export function send(state: SessionState): Step {
  const open = openTurn(state)
  if (open?.unsent === undefined || state.isSending) return step(state)
  // A prompt of a stopped generation is never sent (failure mode 18).
  if (open.cancelled !== undefined)
    return step(state, { do: 'append', groups: [closing(state, { turn: open, reason: 'cancelled' })], hold: true })
  if (state.recording.phase === 'running' || state.isRewinding) return step(state)
  const sending: SessionState = {
    ...state,
    isSending: true,
    turn: { ...open, unsent: undefined },
    context: { ...state.context, isSent: true },
  }
  return step(sending, { do: 'send', turn: open.number, prompt: open.unsent })
}

/** A queued prompt could not be logged. The log ends the session, and what waits ends with it. */
export function queuedPromptFailed(state: SessionState): Step {
  const entries: LogEntry[] = [{ type: 'runtime-warning', message: 'A queued prompt could not be logged' }]
  return andThen(step(stopQueue({ ...state, turn: IDLE }), URGENT), (stopped) =>
    step(stopped, { do: 'append', groups: [{ entries }] }, { do: 'next' }),
  )
}

/** Why a session takes no prompt while its agent does not run. */
function refusalOf({ run, session }: SessionState): AgentprotoError {
  if (session.movedTo !== undefined) return movedError(session)
  if (run.phase === 'starting') return startingError()
  return isGivenUp(session) ? givenUpError(session) : endedError(session)
}

interface Admission extends Outgoing {
  readonly call?: number
  readonly origin: NonNullable<UserPrompt['origin']>
  readonly waited?: QueuedPrompt
  readonly idempotency?: IdempotencyDigests | undefined
}

function begin(state: SessionState, { call, content, trace, origin, waited, idempotency }: Admission): Step {
  const preface = contextFor(state, waited)
  const entry: UserPrompt = {
    type: 'user-prompt',
    content,
    origin,
    ...(preface.length === 0 ? {} : { preface }),
    ...defined({ queuedAt: waited?.queuedAt, traceparent: trace?.traceparent, idempotency }),
  }
  const turn = state.session.turnCount + 1
  const admitted: SessionState = {
    ...state,
    turn: {
      phase: 'admitted',
      prompt: { content: [...preface.map(({ text }): ContentBlock => ({ type: 'text', text })), ...content], trace },
    },
  }
  const reply: Effect[] = call === undefined ? [] : [{ do: 'reply', call, value: turn }]
  // Counted before anything is awaited, so that sessions that share a budget see each other's turns.
  const begun = mayHaveBudget(state) ? [BEGUN] : []
  return step(admitted, ...begun, { do: 'append', groups: [{ entries: [entry], turn }] }, ...reply)
}

const BEGUN: Effect = { do: 'spend', spent: { turns: 1 } }
/** Takes back what was counted of a turn that could not be logged. */
export const NOT_BEGUN: Effect = { do: 'spend', spent: { turns: -1 } }

/** What goes before the prompt. */
function contextFor(state: SessionState, waited?: QueuedPrompt): readonly PromptContextPart[] {
  const { envelope, instructed } = state.session
  const { transcript, isRewound } = state.context
  const isPending = { envelope: envelope === 'pending', instructions: instructed === 'pending' }
  const isAny = isPending.envelope || isPending.instructions
  const parts: PromptContextPart[] = isAny ? standingContextOf(state).filter(({ kind }) => isPending[kind]) : []
  if (transcript !== undefined) parts.push({ kind: 'transcript', text: transcript })
  if (isRewound === true) parts.push(REWIND)
  if (waited?.isInterrupting === true) parts.push(INTERRUPTION)
  return parts
}

/** An agent may remember files that are no longer as it read or wrote them. */
const REWIND: PromptContextPart = {
  kind: 'rewind',
  text: '[Files of the folder were set back to an earlier state since your last turn. Read them again before you rely on what you remember.]',
}

/** To a model, the end of its turn looks like a request to stop; this one had another reason (failure mode 19). */
const INTERRUPTION: PromptContextPart = {
  kind: 'interruption',
  text: '[Your last turn was interrupted only so that this message reaches you now. It is not a request to stop.]',
}

function enqueue(
  state: SessionState,
  { call, content, trace, idempotency }: InputOf<'prompt'>,
  { now, isInterrupting }: { readonly now: number; readonly isInterrupting: boolean },
): Step {
  const waiting = waitingCount(state.queue)
  // Stopped prompts do not count, unless they too have piled up.
  if (waiting >= BOUNDS.queuedPrompts || state.queue.length >= 2 * BOUNDS.queuedPrompts)
    return step(state, { do: 'reject', call, error: queueFull() })
  const queuedAt = new Date(now).toISOString()
  const queue = [...state.queue, { content, trace, queuedAt, isInterrupting, isStopped: false, idempotency }]
  const queued = { ...state, queue }
  return step(queued, ...savedQueue(queued), URGENT, {
    do: 'reply',
    call,
    value: state.session.turnCount + queue.length,
  })
}

/** A change of the queue is reported when the record has it: the next host goes on with what waits for a kept agent. */
const savedQueue = ({ session, queue }: SessionState): Effect[] =>
  session.kept === true && queue.length > 0 ? [{ do: 'save' }] : []

/** The prompt's place is behind what the interrupt stops, and before any later prompt. */
function interruptFor(state: SessionState, input: InputOf<'prompt'>, now: number): Step {
  const stopped = stopQueue(state)
  const queued = enqueue(stopped, input, { now, isInterrupting: true })
  return openTurn(stopped) === undefined
    ? queued
    : andThen(queued, (after) => cancelTurn(after, { cancelled: 'interrupted', now }))
}

function withdraw(state: SessionState, { call, place }: { readonly call: number; readonly place: number }): Step {
  const waiting = state.queue[place - 1]
  if (waiting === undefined || waiting.isStopped) return step(state, { do: 'reply', call, value: { wasBusy: false } })
  const queue = state.queue.with(place - 1, { ...waiting, isStopped: true })
  const stopped = { ...state, queue }
  return step(stopped, ...savedQueue(stopped), URGENT, { do: 'reply', call, value: { wasBusy: true, sent: false } })
}

function cancelTurn(
  state: SessionState,
  { cancelled, now }: { readonly cancelled: NonNullable<OpenTurn['cancelled']>; readonly now: number },
): Step {
  const turn = openTurn(state)
  if (turn === undefined) return step(state)
  const { interruptGraceMs, cancelGraceMs } = state.config
  const at = now + (cancelled === 'interrupted' ? interruptGraceMs : cancelGraceMs)
  // The first cancel sets the grace and what the turn's end is called.
  const isFirst = turn.cancelled === undefined
  const marked = isFirst ? { ...state, turn: { ...turn, cancelled } } : state
  return andThen(cancelAsks(marked), (after) =>
    step(after, ...(isFirst ? [{ do: 'arm', timer: 'grace', at } as const] : []), { do: 'cancel' }),
  )
}

/** What an agent emits about a turn when none is open is kept, but not as a part of a turn. */
function outsideTurn(signal: AgentSignal): LogEntry {
  return STREAM.has(signal.type) ? { type: 'extension', kind: `stray-${signal.type}`, payload: signal } : signal
}

const STREAM: ReadonlySet<string> = new Set(['text-delta', 'thought', 'tool-call', 'tool-result', 'turn-end'])

/** A turn that was cancelled for its silence has timed out, whatever the agent calls its end. */
const asTimeout = (signal: AgentSignal): AgentSignal =>
  signal.type === 'turn-end' && signal.reason === 'cancelled' ? { ...signal, reason: 'timeout' } : signal

const inProgress = (state: SessionState): AgentprotoError => {
  const turn = openTurn(state)?.number ?? state.session.turnCount + 1
  return new AgentprotoError('turn_in_progress', `Turn ${turn} of the session is in progress`, {
    hint: 'Wait for its turn-end, or interrupt it',
    data: { turn },
  })
}

const queueFull = (): AgentprotoError =>
  new AgentprotoError('queue_full', `${BOUNDS.queuedPrompts} prompts wait already`, { hint: 'Wait for a turn to end' })
