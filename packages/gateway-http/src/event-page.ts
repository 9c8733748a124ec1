import type { EventBatch } from '@agentproto/contracts'

/** Characters after which a page is full, whatever its limit says: one event may hold 8 MiB. */
const PAGE_CHARS = 16 * 1024 * 1024

/**
 * One page of the log as JSON, joined from the records as they are stored: `{events, nextAfter, gap?}`. The
 * next page is the one after `nextAfter`; a page without events is the last for now.
 */
export function eventPage({ records, gap }: EventBatch, after: number): string {
  const parts: string[] = []
  let chars = 0
  let nextAfter = gap === undefined ? after : gap.first - 1
  for (const { seq, json } of records) {
    if (chars > 0 && chars + json.length > PAGE_CHARS) break
    parts.push(json)
    chars += json.length
    nextAfter = seq
  }
  const notice = gap === undefined ? '' : `,"gap":${JSON.stringify(gap)}`
  return `{"events":[${parts.join(',')}],"nextAfter":${nextAfter}${notice}}`
}
