import { isLive, MAX_FAILED_RESUMES, type Session, type SessionStateName, type StopReason } from './session.js'

/** What follows from the rest of the record. */
export type SessionSummary = Pick<Session, 'state' | 'attachable' | 'wakeable'>
type Facts = Omit<Session, keyof SessionSummary>

/** The one place that derives them, for a live session and for the record of an ended one. */
export function summaryOf(session: Facts): SessionSummary {
  const attachable = session.status === 'running' && session.connection === 'connected'
  const wakeable = isWakeable(session)
  return { state: isLive(session) ? liveState(session) : endState(session, wakeable), attachable, wakeable }
}

/** Whether it is the decision of a person, a budget or a hook, which only an explicit resume reverses. */
export const isDecision = (reason: StopReason): boolean => ENDINGS[reason] === 'decision'

function liveState({ status, turn, pendingRequests }: Facts): SessionStateName {
  if (status === 'starting') return 'starting'
  return pendingRequests > 0 || turn.state === 'awaiting-input' ? 'waiting' : turn.state
}

function endState(session: Facts, wakeable: boolean): SessionStateName {
  const failed = endingOf(session) === 'failure'
  if (wakeable && (!failed || isOfGateway(session))) return 'asleep'
  return failed ? 'failed' : 'ended'
}

function isWakeable(session: Facts): boolean {
  if (isLive(session) || !session.resumable || session.killedAt !== undefined) return false
  return endingOf(session) !== 'decision' && (session.failedResumes ?? 0) < MAX_FAILED_RESUMES
}

function endingOf({ status, stopReason }: Pick<Session, 'status' | 'stopReason'>): Ending {
  if (stopReason !== undefined) return ENDINGS[stopReason]
  return status === 'error' ? 'failure' : 'decision'
}

type Ending = 'rest' | 'decision' | 'failure'

const ENDINGS: Readonly<Record<StopReason, Ending>> = {
  completed: 'rest',
  idle: 'rest',
  shutdown: 'rest',
  user_canceled: 'decision',
  max_iterations: 'decision',
  loop_detected: 'decision',
  budget_exceeded: 'decision',
  hook_stopped: 'decision',
  expired: 'decision',
  moved: 'decision',
  timeout: 'failure',
  error: 'failure',
  agent_crashed: 'failure',
}

/** A process that ends by itself leaves `exited`: only the repair after the end of a gateway leaves `error` with this failure. */
const isOfGateway = ({ status, failure }: Pick<Session, 'status' | 'failure'>): boolean =>
  status === 'error' && failure?.kind === 'process_exit'
