import type { EventRecord, EventStore } from '@agentproto/contracts/agent'
import { eventOf } from '../log/event-record.js'
import { batchesOf } from '../log/log-batches.js'
import { gapNotice, type LogItem } from '../log/log-gap.js'
import type { SessionCache } from '../session-cache.js'
import { eventsFrom } from '../turns/turn-log.js'

/** Reads whole logs, for search, exports and checks. */

export interface LogSources {
  readonly sessions: SessionCache
  readonly logs: EventStore
}

/**
 * All events of a session, with notices of gaps. An open log is read through its session; any other log is not opened for
 * writing, nor kept open, so that thousands can be searched.
 */
export async function* allEventsOf(id: string, { sessions, logs }: LogSources): AsyncGenerator<LogItem> {
  const loaded = sessions.peek(id)
  if (loaded?.log.isOpen === true) return yield* eventsFrom(loaded, 1)
  const lastSeq = sessions.descriptor(id)?.lastSeq ?? 0
  yield* withGaps(logs.scan?.(id) ?? opened(id, logs), lastSeq)
}

/** Numbers have no holes, so a missing number is a lost event. The record knows the last number. */
async function* withGaps(batches: AsyncIterable<readonly EventRecord[]>, lastSeq: number): AsyncGenerator<LogItem> {
  let last = 0
  for await (const records of batches) {
    for (const record of records) {
      // A line that damage has duplicated.
      if (record.seq <= last) continue
      if (record.seq > last + 1) yield gapNotice({ after: last, first: record.seq })
      last = record.seq
      yield eventOf(record)
    }
  }
  if (last < lastSeq) yield gapNotice({ after: last, first: lastSeq + 1 })
}

async function* opened(id: string, logs: EventStore): AsyncGenerator<readonly EventRecord[]> {
  const { log } = await logs.open(id)
  try {
    for await (const { records } of batchesOf(log, 0)) yield records
  } finally {
    await log.close()
  }
}
