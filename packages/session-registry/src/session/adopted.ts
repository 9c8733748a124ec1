import { defined } from '@agentproto/contracts'
import type { EntryGroup } from '../log/event-log.js'
import type { LogEntry } from '../log/event-record.js'
import { closing } from './closing.js'
import type { InputOf } from './input.js'
import { limitForPrompt, record } from './recording.js'
import { dropUnasked } from './requests.js'
import { andThen, type Effect, openTurn, type SessionState, step, type Step, withWarning } from './state.js'
import { watchAdopted, watchAgain } from './supervision.js'
import { cancelAgain } from './turn.js'

/** The log says all that a host after a crash would need. */
const CHANGED: Effect = { do: 'changed', isUrgent: false }

/** A session that goes on with the agent of an earlier host: its log says where it was, and its status never left `running`. */
export function adopted(before: SessionState, { call, adoption }: InputOf<'adopted'>, now: number): Step {
  const { agent, running, unsent } = adoption
  const turn = openTurn(before)
  const isSent = turn !== undefined && unsent === undefined
  const state: SessionState = {
    ...before,
    run: { phase: 'running' },
    session: withAdopted(before, adoption),
    process: agent.process,
    // No prompt is sent before the agent has caught up.
    isSending: true,
    turn: turn === undefined ? before.turn : { ...turn, unsent },
    context: { ...before.context, isSent },
  }
  const isCancelled = (running?.isCancelled === true && running.turn === turn?.number) || isInterrupted(before)
  return [
    (after: SessionState) => watchAdopted(after, now),
    (after: SessionState) => (isCancelled ? cancelAgain(after, now) : step(after)),
    (after: SessionState) => recordAgain(after, now),
  ].reduce(andThen, step(state, CHANGED, { do: 'reply', call }))
}

/** A prompt that waits has interrupted the turn: the earlier host may have ended before the agent was cancelled. */
const isInterrupted = ({ queue }: SessionState): boolean =>
  queue.some(({ isInterrupting, isStopped }) => isInterrupting && !isStopped)

/** What was emitted again is in the log: from now on the clock counts, and a request that was not asked again is over. */
export const caughtUp = (state: SessionState, now: number): Step =>
  andThen(dropUnasked(state), (after) => watchAgain(after, now))

/** What cannot be proved equal is not papered over: the log says so, the turn ends, and the agent is interrupted. */
export function differs(state: SessionState, { turn: number, detail }: InputOf<'differs'>): Step {
  const turn = openTurn(state)
  const text = `What the agent sent before the gateway ended cannot be compared with the log: ${detail}`
  const entry: LogEntry = { type: 'repair', detail: text }
  if (turn === undefined || turn.number !== number)
    return step(state, { do: 'append', groups: [{ entries: [entry] }], hold: true })
  const groups: EntryGroup[] = [
    { entries: [entry], turn: number },
    closing(state, { turn, reason: 'error', error: { message: text } }),
  ]
  return step(state, { do: 'append', groups, hold: true }, { do: 'cancel' })
}

function withAdopted(
  { session }: SessionState,
  { agent: { info, agentSessionId, sandbox, warnings } }: InputOf<'adopted'>['adoption'],
): SessionState['session'] {
  const adoptedSession: SessionState['session'] = {
    ...session,
    agent: info,
    connection: 'connected',
    kept: true,
    ...(agentSessionId === '' ? {} : { agentSessionId }),
    ...defined({ sandbox }),
  }
  return warnings.reduce(withWarning, adoptedSession)
}

/** The earlier host ended while it recorded the folder. The prompt of the next turn waits for that, so it can be done again. */
function recordAgain(state: SessionState, now: number): Step {
  if (state.recording.phase !== 'missing') return step(state)
  return andThen(record(state, state.recording.turn), (after) => limitForPrompt(after, now))
}
