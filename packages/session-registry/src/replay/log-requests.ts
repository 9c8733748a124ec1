import type { SessionRequest } from '@agentproto/contracts'
import type { SharedLog } from '@agentproto/contracts/agent'
import { SessionRebuild } from '../archive/session-rebuild.js'
import { eventOf } from '../log/event-record.js'
import { gapNotice, type LogItem } from '../log/log-gap.js'
import { FoldedLogs } from './folded-logs.js'

/** Logs whose requests are kept, and the characters of all of them: a request may have the text of a whole file. */
const KEPT_LOGS = 4_096
const KEPT_CHARS = 16 * 1024 * 1024

/** The requests of logs, each of which was read from its beginning once. */
export const logRequests = (): FoldedLogs<readonly SessionRequest[]> =>
  new FoldedLogs({
    fold: requestsIn,
    most: { logs: KEPT_LOGS, size: KEPT_CHARS },
    sizeOf: (requests) => JSON.stringify(requests).length,
  })

async function requestsIn(log: SharedLog): Promise<readonly SessionRequest[]> {
  const { state } = await new SessionRebuild(log.session).applyAll(withoutText(log))
  return state.requests
}

/** Most events of a log are text, and none of them changes a request: they are not even parsed. */
async function* withoutText(log: SharedLog): AsyncGenerator<LogItem> {
  for await (const { records, gap } of log.batches(0)) {
    if (gap !== undefined) yield gapNotice(gap)
    for (const record of records) if (record.type !== 'text-delta' && record.type !== 'thought') yield eventOf(record)
  }
}
