import type { EventGap } from './event-log.js'
import type { StatusChange } from './host-event.js'

/** AIP-46's output projection: a session as lines for people. */

export interface OutputLine {
  readonly line: string
  readonly stream: 'stdout' | 'stderr'
}

/**
 * One message of `GET /sessions/:id/stream`. `cursor` is `<seq>.<n>`: the n-th item that event `seq`
 * completed. It is the SSE id, and a stream resumes after it.
 */
export type OutputItem =
  | { readonly cursor: string; readonly type: 'line'; readonly line: OutputLine }
  | { readonly cursor: string; readonly type: 'status'; readonly status: StatusChange }
  /** The items between these events are lost. */
  | { readonly cursor: string; readonly type: 'gap'; readonly gap: EventGap }
