import type { ProcessExit, SessionFailure, SessionStatus, StopReason } from '@agentproto/contracts'
import type { LogEntry } from './event-record.js'

/** What is known of the end of a run. */
export interface SessionEnd {
  readonly status: SessionStatus
  readonly previous: SessionStatus
  readonly stopReason: StopReason
  readonly failure: SessionFailure | undefined
  readonly exit: ProcessExit
}

/** The last events of a run. */
export function endOf({ status, previous, stopReason, failure, exit }: SessionEnd): readonly LogEntry[] {
  const { exitCode } = exit
  return [
    { type: 'status', status, previous, ...(exitCode === undefined ? {} : { exitCode }) },
    { type: 'session-stopped', status, stopReason, ...(failure === undefined ? {} : { failure }), ...exit },
  ]
}
