import type { EventGap } from './event-log.js'
import type { StatusChange } from './host-event.js'

/** AIP-46's projection: what a person reads of a session, line by line. */

export interface OutputLine {
  readonly line: string
  readonly stream: 'stdout' | 'stderr'
}

/**
 * One message of `GET /sessions/:id/stream`. `cursor` is `<seq>.<n>`: the n-th thing that event `seq`
 * completed. It is the SSE id, and a stream resumes after it.
 */
export type OutputItem =
  | { readonly cursor: string; readonly type: 'line'; readonly line: OutputLine }
  | { readonly cursor: string; readonly type: 'status'; readonly status: StatusChange }
  /** What was to be told between these events is gone. */
  | { readonly cursor: string; readonly type: 'gap'; readonly gap: EventGap }
