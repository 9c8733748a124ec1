import type { EventGap } from './event-log.js'
import type { StatusChange } from './host-event.js'
import type { OutputLine } from './wire/session-responses.js'

/**
 * One message of `GET /sessions/:id/stream`. `cursor` is `<seq>.<n>`: the n-th item that event `seq`
 * completed. It is the SSE id, and a stream resumes after it.
 */
export type OutputItem =
  | { readonly cursor: string; readonly type: 'line'; readonly line: OutputLine }
  | { readonly cursor: string; readonly type: 'status'; readonly status: StatusChange }
  /** The items between these events are lost. */
  | { readonly cursor: string; readonly type: 'gap'; readonly gap: EventGap }
