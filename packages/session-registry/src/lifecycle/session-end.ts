import type { LogEntry } from '../log/event-record.js'
import type { Ending } from './ending.js'
import { type BundleKeeper, keptFailure, type RunFacts } from './kept-failure.js'
import { assertTransition } from './lifecycle.js'

/** The last events of a run that is over: its process tree is gone, its turn has ended. */
export async function endOfRun(cause: Ending, keeper: BundleKeeper, facts: RunFacts): Promise<readonly LogEntry[]> {
  const { status: previous } = facts.session
  // A start that was killed never ran: its row of the table has only one way out.
  const status = previous === 'starting' ? 'error' : cause.status
  assertTransition(previous, status)
  const failure = await keptFailure(cause, keeper, facts)
  const { stopReason } = cause
  const { exitCode } = facts.exit
  return [
    { type: 'status', status, previous, ...(exitCode === undefined ? {} : { exitCode }) },
    { type: 'session-stopped', status, stopReason, ...(failure === undefined ? {} : { failure }), ...facts.exit },
  ]
}
