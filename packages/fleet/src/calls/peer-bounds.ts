import { AgentprotoError } from '@agentproto/contracts'
import { MAX_ARGUMENT_BYTES, MAX_RESULT_BYTES, type Outcome } from './call-frame.js'

/** What one other host may have open here. */
export const PEER_BOUNDS = {
  /** Calls that are not finished, or whose result has not arrived. */
  calls: 4_096,
  readers: 1_024,
  /** Ended calls that are remembered, so that none of them runs again. */
  ended: 200_000,
  /** Results that wait for the host to fetch them, and arguments that are not complete: bytes. */
  heldBytes: 2 * MAX_RESULT_BYTES,
  putBytes: 2 * MAX_ARGUMENT_BYTES,
} as const

export const TOO_LARGE: Outcome = {
  problem: new AgentprotoError('payload_too_large', 'The call between the hosts is too large', {
    expected: `at most ${MAX_ARGUMENT_BYTES} bytes of arguments and ${MAX_RESULT_BYTES} bytes of a result`,
  }).toProblem(),
}
export const TOO_MANY_READERS: Outcome = {
  problem: new AgentprotoError('stream_limit_reached', 'This host has too many open streams at the other host', {
    expected: `at most ${PEER_BOUNDS.readers}`,
    hint: 'Close a stream that is not needed, then try again',
  }).toProblem(),
}
