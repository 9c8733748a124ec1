import type { EventLogStore, SessionEvent } from '@agentproto/contracts'
import { eventOf } from './event-record.js'
import type { SessionShelf } from './session-shelf.js'
import { eventsFrom } from './turn-log.js'

/** Whole logs, read for what is no live view of a session: search, exports, checks. */

const READ = 2_048

/**
 * All events of a session. One whose log is open is read through it; for any other the log is not opened for writing, nor kept
 * open afterwards, so that thousands can be gone through.
 */
export async function* allEventsOf(
  id: string,
  { shelf, logs }: { readonly shelf: SessionShelf; readonly logs: EventLogStore },
): AsyncGenerator<SessionEvent> {
  const awake = shelf.awakeOne(id)
  if (awake?.journal.isOpen === true) return yield* eventsFrom(awake, 1)
  if (logs.scan === undefined) return yield* opened(id, logs)
  for await (const records of logs.scan(id)) for (const record of records) yield eventOf(record)
}

async function* opened(id: string, logs: EventLogStore): AsyncGenerator<SessionEvent> {
  const { log } = await logs.open(id)
  try {
    for (let cursor = 0; ;) {
      const { records, gap } = await log.read(cursor, READ)
      for (const record of records) yield eventOf(record)
      const next = records.at(-1)?.seq ?? (gap === undefined ? undefined : gap.first - 1)
      if (next === undefined) return
      cursor = next
    }
  } finally {
    await log.close()
  }
}
