import type { EventBatch, StoredLog } from '@agentproto/contracts/agent'

/** A log as its readers see it. */
export interface LogReads {
  /** The events after a number, up to the end that the log has now. */
  batches(after: number): AsyncIterable<EventBatch>
}

const READ = 2_048

/** Reads a log from the events after a number to its end, a batch at a time. */
export async function* batchesOf(log: Pick<StoredLog, 'read'>, after: number): AsyncGenerator<EventBatch> {
  for (let cursor = after; ;) {
    const batch = await log.read(cursor, READ)
    const last = endOf(batch) ?? cursor
    // Events beyond the end are not lost, they do not exist yet.
    if (last <= cursor) return
    yield batch
    cursor = last
  }
}

/** The last number that a batch accounts for; undefined for an empty one. */
export const endOf = ({ records, gap }: EventBatch): number | undefined =>
  records.at(-1)?.seq ?? (gap === undefined ? undefined : gap.first - 1)
