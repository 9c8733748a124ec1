import type { OutputItem } from '@agentproto/contracts'
import type { EventSourceMessage } from 'eventsource-parser'
import type { FollowOptions } from './connection-state.js'
import type { Feed } from './feed.js'
import { callOf } from './operation-call.js'

export interface FollowOutputOptions extends FollowOptions {
  /** `cursor` of the last known item; without it the buffered lines come first. */
  readonly after?: string
}

/** The output of one session as a feed: `line`, `status` and `gap`. */
export function outputFeed(id: string, { after, signal, onState }: FollowOutputOptions): Feed<OutputItem> {
  let ended = false
  const feed: Feed<OutputItem> = {
    call: callOf('GET /sessions/:id/stream', { params: { id }, query: { after }, signal }),
    cursor: after,
    onState,
    apply(message) {
      const item = itemOf(message)
      if (item === undefined || (item.type !== 'gap' && isKnown(item.cursor, feed.cursor))) return []
      feed.cursor = item.cursor
      if (item.type === 'status') ended = item.status.status !== 'starting' && item.status.status !== 'running'
      return [item]
    },
    isComplete: () => ended,
  }
  return feed
}

function itemOf({ id, event, data }: EventSourceMessage): OutputItem | undefined {
  if (id === undefined) return undefined
  if (event === 'line') return { cursor: id, type: 'line', line: JSON.parse(data) }
  if (event === 'status') return { cursor: id, type: 'status', status: JSON.parse(data) }
  if (event === 'gap') return { cursor: id, type: 'gap', gap: JSON.parse(data) }
  return undefined
}

const isKnown = (cursor: string, last: string | undefined): boolean => last !== undefined && !isLater(cursor, last)

/** Cursors are `<seq>.<n>`, two whole numbers: `9.2` comes before `9.10`. */
function isLater(cursor: string, than: string): boolean {
  const [seq, n] = numbersOf(cursor)
  const [thanSeq, thanN] = numbersOf(than)
  return seq === thanSeq ? n > thanN : seq > thanSeq
}

function numbersOf(cursor: string): [number, number] {
  const [seq = '', n] = cursor.split('.')
  // `<seq>` alone stands for everything that the event completed.
  return [Number(seq), n === undefined ? Infinity : Number(n)]
}
