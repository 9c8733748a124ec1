import { defined, isLive, type Session } from '@agentproto/contracts'
import type { ConfigChange, StoredSpawn } from '@agentproto/contracts/agent'
import { endingOfStorage } from '../lifecycle/ending.js'
import type { LogEntry } from '../log/event-record.js'
import { adopted, caughtUp, differs } from './adopted.js'
import { applyEvents, replayEvent } from './events.js'
import type { Input, InputOf } from './input.js'
import { recorded, recordingOver } from './recording.js'
import { giveUp } from './give-up.js'
import { rename } from './rename.js'
import { answer, asked, askedAgain, judged, policyAnswer, requestOver, withdrawn } from './requests.js'
import { beginRewind, rewindOver } from './rewind.js'
import {
  agentEnded,
  agentReady,
  agentStarted,
  agentStopped,
  end,
  kill,
  repair,
  resume,
  start,
  startFailed,
  stopFailed,
} from './run.js'
import { andThen, type Call, IDLE, type SessionState, step, type Step, URGENT, withWarning } from './state.js'
import { look } from './supervision.js'
import { checkBudgets } from '../usage/budget.js'
import { graceOver, interrupt, next, NOT_BEGUN, prompt, queuedPromptFailed, sendSettled, signals } from './turn.js'

/**
 * Decides everything about one session: what an input makes of its state, and what has to be done. No I/O, no clock, no
 * promise: the actor stores the entries and carries out the effects. Stored entries come back as `stored` events, and only
 * these change what the log knows.
 */
export function reduce(state: SessionState, input: Input, now: number): Step {
  switch (input.type) {
    case 'start':
      return start(state, input)
    case 'resume':
      return orReject(state, input.call, () => resume(state, input, now))
    case 'prompt':
      return prompt(state, input, now)
    case 'interrupt':
    case 'kill':
    case 'give-up':
      return ending(state, input, now)
    case 'answer':
      return orReject(state, input.call, () => answer(state, input, now))
    case 'rename':
    case 'set-permission-mode':
    case 'configured':
    case 'warn':
      return describe(state, input)
    case 'signals':
    case 'agent-started':
    case 'agent-ready':
    case 'start-failed':
    case 'send-settled':
    case 'agent-ended':
    case 'agent-stopped':
    case 'stop-failed':
      return ofAgent(state, input, now)
    case 'asked':
    case 'withdrawn':
    case 'judged':
    case 'policy-answer':
      return ofRequest(state, input)
    case 'adopt':
    case 'adopted':
    case 'adoption-failed':
    case 'asked-again':
    case 'caught-up':
    case 'differs':
    case 'leave':
      return adoption(state, input, now)
    case 'recorded':
    case 'begin-rewind':
    case 'rewind-over':
    case 'reviewed':
      return files(state, input)
    case 'timer':
      return timer(state, input, now)
    case 'next':
      return next(state, now)
    case 'report':
    case 'stored':
    case 'spent':
    case 'repair':
    case 'replayed':
    case 'rebuilt':
    case 'write-failed':
      return reduceLog(state, input, now)
  }
}

/** A command that is refused changes nothing. */
function orReject(state: SessionState, call: Call, decide: () => Step): Step {
  try {
    return decide()
  } catch (error) {
    return step(state, { do: 'reject', call, error })
  }
}

/** A turn is to end, or the session. */
function ending(state: SessionState, input: InputOf<'interrupt' | 'kill' | 'give-up'>, now: number): Step {
  switch (input.type) {
    case 'interrupt':
      return interrupt(state, input, now)
    case 'kill':
      return kill(state, input, now)
    case 'give-up':
      return giveUp(state, input)
  }
}

/** What becomes of a request of the agent without a person. */
function ofRequest(state: SessionState, input: InputOf<'asked' | 'withdrawn' | 'judged' | 'policy-answer'>): Step {
  switch (input.type) {
    case 'asked':
      return asked(state, input)
    case 'withdrawn':
      return withdrawn(state, input.requestId)
    case 'judged':
      return judged(state, input)
    case 'policy-answer':
      return policyAnswer(state, input)
  }
}

type OfAgent = InputOf<
  | 'signals'
  | 'agent-started'
  | 'agent-ready'
  | 'start-failed'
  | 'send-settled'
  | 'agent-ended'
  | 'agent-stopped'
  | 'stop-failed'
>

/** How the start of the agent goes, what it emits, and how it ends. */
function ofAgent(state: SessionState, input: OfAgent, now: number): Step {
  switch (input.type) {
    case 'signals':
      return signals(state, input)
    case 'agent-started':
      return agentStarted(state, input.facts)
    case 'agent-ready':
      return agentReady(state)
    case 'start-failed':
      return startFailed(state, input.error, now)
    case 'send-settled':
      return sendSettled(state, input)
    case 'agent-ended':
      return agentEnded(state, input)
    case 'agent-stopped':
      return agentStopped(state, input, now)
    case 'stop-failed':
      return stopFailed(state, input.error)
  }
}

/** How it goes on with the agent of an earlier host, and is left to the next one. */
function adoption(
  state: SessionState,
  input: InputOf<'adopt' | 'adopted' | 'adoption-failed' | 'asked-again' | 'caught-up' | 'differs' | 'leave'>,
  now: number,
): Step {
  switch (input.type) {
    case 'adopt':
      return step(state, { do: 'adopt', call: input.call, place: input.place })
    case 'adopted':
      return adopted(state, input, now)
    case 'adoption-failed':
      return step(state, { do: 'reject', call: input.call, error: input.error })
    case 'asked-again':
      return askedAgain(state, input)
    case 'caught-up':
      return caughtUp(state, now)
    case 'differs':
      return differs(state, input)
    case 'leave':
      return step({ ...state, isMuted: true })
  }
}

/** What a session is called and set to. */
function describe(state: SessionState, input: InputOf<'rename' | 'set-permission-mode' | 'configured' | 'warn'>): Step {
  switch (input.type) {
    case 'rename':
      return rename(state, input)
    case 'set-permission-mode':
      return setPermissionMode(state, input)
    case 'configured':
      return step({ ...state, spawn: withChange(state.spawn, input.change) })
    case 'warn':
      return step({ ...state, session: withWarning(state.session, input.message) }, URGENT)
  }
}

/** What happens to the files of its folder, beside what its agent does to them. */
function files(state: SessionState, input: InputOf<'recorded' | 'begin-rewind' | 'rewind-over' | 'reviewed'>): Step {
  switch (input.type) {
    case 'recorded':
      return recorded(state, input)
    case 'begin-rewind':
      return orReject(state, input.call, () => beginRewind(state, input.call))
    case 'rewind-over':
      return rewindOver(state, input)
    case 'reviewed':
      return step({ ...state, session: { ...state.session, reviewed: input.review } }, URGENT, { do: 'save' })
  }
}

function reduceLog(
  state: SessionState,
  input: InputOf<'report' | 'stored' | 'spent' | 'repair' | 'replayed' | 'rebuilt' | 'write-failed'>,
  now: number,
): Step {
  switch (input.type) {
    case 'report':
      return step(state, { do: 'append', groups: [{ entries: input.entries }] })
    case 'stored':
      return applyEvents(named(state, input), input.events, now)
    case 'spent':
      return checkBudgets({ ...state, standings: input.standings }, now)
    case 'repair':
      return repair(state, input)
    case 'replayed':
      return step(replayEvent(state, input.event))
    case 'rebuilt':
      return rebuilt(state, input)
    case 'write-failed':
      return writeFailed(state, input, now)
  }
}

function timer(state: SessionState, { timer: name, liveChildren }: InputOf<'timer'>, now: number): Step {
  if (name === 'watch') return look(state, { now, liveChildren })
  if (name === 'grace') return graceOver(state)
  if (name === 'recording') return recordingOver(state)
  return requestOver(state, name.slice('request '.length))
}

function setPermissionMode(state: SessionState, { call, mode, by }: InputOf<'set-permission-mode'>): Step {
  // After the end of a session only a resume adds to its log.
  if (!isLive(state.session))
    return step({ ...state, session: { ...state.session, permissionMode: mode } }, URGENT, { do: 'reply', call })
  const entry: LogEntry = { type: 'config', config: {}, permissionMode: mode, by }
  return step(state, { do: 'append', groups: [{ entries: [entry] }] }, { do: 'reply', call })
}

/** What was set before and what is set now: of each thing its last value, in the order in which it was set. */
function withChange(spawn: StoredSpawn, change: ConfigChange): StoredSpawn {
  const others = (spawn.changes ?? []).filter((known) => subjectOf(known) !== subjectOf(change))
  return { ...spawn, changes: [...others, change] }
}

const subjectOf = (change: ConfigChange): string =>
  'optionId' in change ? `option ${change.optionId}` : Object.keys(change).join()

/** Some agents name their session only with their first answer. */
const named = (state: SessionState, { agentSessionId }: InputOf<'stored'>): SessionState =>
  agentSessionId === undefined || agentSessionId === '' || agentSessionId === state.session.agentSessionId
    ? state
    : { ...state, session: { ...state.session, agentSessionId } }

function rebuilt(state: SessionState, { session: logged, meter }: InputOf<'rebuilt'>): Step {
  const { status, turnCount, turn, unsentTurns, stopReason, endedAt } = logged
  const session: Session = {
    ...state.session,
    status,
    turnCount,
    turn,
    ...defined({ unsentTurns, stopReason, endedAt }),
  }
  // A record of an older version has not counted, and one that was lost counts less than its log.
  const counted = meter.usage.turns > state.meter.usage.turns ? meter : state.meter
  return step({ ...state, session, turn: IDLE, meter: { ...counted, seq: Math.max(counted.seq, meter.seq) } })
}

/** Entries of an input could not be stored, and nothing of them took effect. */
function writeFailed(state: SessionState, { input, error }: InputOf<'write-failed'>, now: number): Step {
  switch (input.type) {
    case 'start':
    case 'resume':
    case 'agent-ready':
      return startFailed(state, error, now)
    case 'prompt':
      // Of one that interrupts, the cancellations of the running turn's requests are written too.
      if (state.turn.phase !== 'admitted') return endUnlogged(state, error)
      return step({ ...state, turn: IDLE }, NOT_BEGUN, { do: 'reject', call: input.call, error }, { do: 'next' })
    case 'set-permission-mode':
      return step(state, { do: 'reject', call: input.call, error })
    case 'next':
      return andThen(step(state, NOT_BEGUN), queuedPromptFailed)
    case 'answer': {
      const { state: ended, effects } = endUnlogged(state, error)
      return step(ended, { do: 'reject', call: input.call, error }, ...effects)
    }
    default:
      return endUnlogged(state, error)
  }
}

/** Nothing that the agent does could be logged any more, so the session ends. */
const endUnlogged = (state: SessionState, error: unknown): Step =>
  end({ ...state, isMuted: true }, endingOfStorage(error))
