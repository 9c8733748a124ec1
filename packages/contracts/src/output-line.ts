import type { EventGap } from './event-log.js'
import type { StatusChange } from './host-event.js'
import type { OutputLine } from './wire/session-responses.js'

/** One message of `GET /sessions/:id/stream`. Its `cursor` `<seq>.<n>`, the n-th item of event `seq`, is its SSE id. */
export type OutputItem =
  | { readonly cursor: string; readonly type: 'line'; readonly line: OutputLine }
  | { readonly cursor: string; readonly type: 'status'; readonly status: StatusChange }
  /** The items between these events are lost. */
  | { readonly cursor: string; readonly type: 'gap'; readonly gap: EventGap }
