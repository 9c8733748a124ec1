import {
  AgentprotoError,
  asNumber,
  asString,
  defined,
  type FailureKind,
  type Session,
  type SessionFailure,
  type SessionStatus,
  STOP_REASON_TEXT,
  type StopReason,
  toAgentprotoError,
} from '@agentproto/contracts'
import type { AgentEnd } from '@agentproto/contracts/agent'
import type { SessionService } from '@agentproto/contracts/wire'

/** Why a run of an agent ends, recorded where the cause is known; the first cause wins. */
export interface Ending {
  readonly status: Extract<SessionStatus, 'exited' | 'killed' | 'error'>
  readonly stopReason: StopReason
  readonly failure?: SessionFailure
  /** The end of the agent's stderr, for a crash bundle and for the turn that it leaves open. */
  readonly stderrTail?: string
  /** The failure without the stderr. */
  readonly message?: string
  /** How the process ended, as its own end reported it: the stop of an agent in a shared process knows nothing of it. */
  readonly exit?: Pick<AgentEnd, 'exitCode' | 'signal'>
}

const MAX_SUMMARY = 2_048
/** Characters of an agent's stderr that its failure includes. */
const TAIL = 1_024

/** The ending that a caller or a hook of the host asks for. */
export function endingOfKill(reason: Parameters<SessionService['kill']>[2] = 'user_canceled'): Ending {
  if (typeof reason === 'string') return { status: 'killed', stopReason: reason }
  const { kind, summary } = reason.hook
  return { status: 'killed', stopReason: 'hook_stopped', failure: failureOf(kind, summary) }
}

/** The ending of an agent that ended by itself. */
export function endingOf(end: AgentEnd): Ending {
  const { cause, message, stderrTail, duringTurn, exitCode, signal } = end
  if (cause === 'timeout') return { status: 'killed', stopReason: 'timeout', failure: failureOf('timeout', message) }
  const isExit = cause === 'exit'
  if (isExit && !duringTurn && exitCode === 0) return { status: 'exited', stopReason: 'completed' }
  const summary = stderrTail === '' ? message : `${message}\n${stderrTail.slice(-TAIL)}`
  return {
    // AIP-46: `exited` has the code of a process that ended by itself, also in mid-turn; the stop reason says the rest.
    status: isExit ? 'exited' : 'error',
    stopReason: isExit || (duringTurn && end.isElsewhere !== true) ? 'agent_crashed' : 'error',
    failure: failureOf(END_FAILURES[cause], summary),
    stderrTail,
    message,
    exit: defined({ exitCode, signal }),
  }
}

const END_FAILURES: Readonly<Record<Exclude<AgentEnd['cause'], 'timeout'>, FailureKind>> = {
  exit: 'process_exit',
  transport: 'transport_failure',
  protocol: 'protocol_failure',
}

/** The ending of a start that failed. */
export function endingOfStart(thrown: unknown): Ending {
  const error = toAgentprotoError(thrown, 'spawn_failed')
  const kind = START_FAILURES[error.code] ?? 'startup_failure'
  return { status: 'error', stopReason: 'error', failure: failureOf(kind, error.message), exit: exitIn(error) }
}

/** How the process of a start ended that an arm could not finish. */
function exitIn({ parts: { data } }: AgentprotoError): Ending['exit'] & object {
  const { exitCode, signal } = data ?? {}
  return defined({ exitCode: asNumber(exitCode), signal: asString(signal) })
}

/** The ending of a session whose log cannot be written. */
export const endingOfStorage = (thrown: unknown): Ending => ({
  status: 'error',
  stopReason: 'error',
  failure: failureOf('unknown_failure', toAgentprotoError(thrown, 'storage_failed').message),
})

/** A prompt to an ended session that it does not wake. */
export function endedError({ id, status, stopReason, resumable, adapterSlug }: Session): AgentprotoError {
  if (!resumable)
    return new AgentprotoError('session_ended', `The session has ended (${status})`, {
      hint: `Start a new one with: agentproto sessions start ${adapterSlug}`,
    })
  const why = stopReason === undefined ? status : STOP_REASON_TEXT[stopReason]
  return new AgentprotoError('session_ended', `The session has ended (${why}), and a prompt does not start it again`, {
    hint: `Resume it with: agentproto sessions resume ${id}, then send the prompt again`,
  })
}

/** How a turn ends that its session's end leaves open. */
export interface OpenTurnEnd {
  readonly reason: 'cancelled' | 'error' | 'timeout'
  /** AIP-46 §Output projection: the message, and the stderr of the child separately. */
  readonly error?: { readonly message: string; readonly stderrTail?: string } | undefined
}

export function turnEndOf({ status, stopReason, failure, message, stderrTail }: Ending): OpenTurnEnd {
  if (stopReason !== 'timeout' && status === 'killed') return { reason: 'cancelled' }
  const text = message ?? failure?.summary
  const error =
    text === undefined ? undefined : defined({ message: text, stderrTail: stderrTail?.slice(-TAIL) || undefined })
  return { reason: stopReason === 'timeout' ? 'timeout' : 'error', error }
}

/** A prompt to a session whose agent is being started. */
export const startingError = (): AgentprotoError =>
  new AgentprotoError('session_starting', 'The session is still starting', { hint: 'Wait until its status is running' })

export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

export const failureOf = (kind: FailureKind, summary: string): SessionFailure => ({
  kind,
  summary: summary.length <= MAX_SUMMARY ? summary : `${summary.slice(0, MAX_SUMMARY - 1)}…`,
})

const START_FAILURES: { readonly [code: string]: FailureKind | undefined } = {
  handshake_failed: 'handshake_failure',
  auth_required: 'provider_auth_failure',
  not_resumable: 'load_session_failure',
  timeout: 'timeout',
  cancelled: 'cancellation',
  protocol_error: 'protocol_failure',
}

export const shuttingDown = (): AgentprotoError => new AgentprotoError('shutting_down', 'The gateway is shutting down')
