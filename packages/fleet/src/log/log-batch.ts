import type { EventBatch, EventRecord } from '@agentproto/contracts/agent'
import { type LogMessage, MAX_EVENT_BYTES, NO_BODY } from './log-message.js'
import { linesOf } from './log-records.js'

export interface Splitting {
  readonly epoch: number
  /** At most this many bytes are in the body of a message. */
  readonly maxBytes: number
  /** What of the first event is stored already: its first bytes, of this many. */
  readonly partly?: { readonly seq: number; readonly bytes: number; readonly total: number } | undefined
}

/**
 * One stored batch as messages: usually one. Made one by one, as they are sent, so that a large batch is not in memory twice.
 */
export function* messagesOf({ records, gap }: EventBatch, how: Splitting): Generator<LogMessage> {
  const { epoch } = how
  if (gap !== undefined && gap.first > gap.after + 1)
    yield { kind: 'gap', epoch, first: gap.after + 1, last: gap.first - 1, body: NO_BODY }
  for (let at = 0; at < records.length;) {
    const { count, bytes } = fitting(records, at, how.maxBytes)
    const chosen = records.slice(at, at + count)
    if (bytes > how.maxBytes) yield* partsOf(chosen, how)
    else yield { kind: 'events', epoch, ...span(chosen), body: linesOf(chosen) }
    at += count
  }
}

/** How many whole events fit in one message, at least one. */
function fitting(records: readonly EventRecord[], from: number, maxBytes: number): { count: number; bytes: number } {
  let bytes = 0
  let count = 0
  for (let at = from; at < records.length; at += 1) {
    const more = Buffer.byteLength(records[at]?.json ?? '') + (count === 0 ? 0 : 1)
    // A hole in the numbers is a gap of its own, of the next batch.
    if (count > 0 && (bytes + more > maxBytes || records[at]?.seq !== (records[from]?.seq ?? 0) + count)) break
    bytes += more
    count += 1
  }
  return { count, bytes }
}

function* partsOf(one: readonly EventRecord[], { epoch, maxBytes, partly }: Splitting): Generator<LogMessage> {
  const { first, last } = span(one)
  const bytes = linesOf(one)
  const total = bytes.length
  if (total > MAX_EVENT_BYTES) return yield { kind: 'gap', epoch, first, last, body: NO_BODY }
  const isSame = partly?.seq === first && partly.total === total
  for (let offset = isSame ? partly.bytes : 0; offset < total; offset += maxBytes)
    yield { kind: 'part', epoch, first, last, part: { offset, total }, body: bytes.subarray(offset, offset + maxBytes) }
}

const span = (records: readonly EventRecord[]): { first: number; last: number } => ({
  first: records[0]?.seq ?? 0,
  last: records.at(-1)?.seq ?? 0,
})
