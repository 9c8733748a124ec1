import { AgentprotoError, type EventGap, type SessionEvent } from '@agentproto/contracts'
import type { EventSourceMessage } from 'eventsource-parser'
import type { FollowOptions } from './connection-state.js'
import { type Feed, ListenerFailure } from './feed.js'
import { callOf } from './operation-call.js'

export interface FollowEventsOptions extends FollowOptions {
  /** The last known sequence number; default 0, the whole log. */
  readonly after?: number
  /** Receives gaps of lost events; without it a gap ends the stream with `storage_corrupt`. */
  readonly onGap?: (gap: EventGap) => void
}

/** The log of one session as a feed; ends with the session. */
export function eventFeed(
  id: string,
  { after = 0, signal, onState, onGap = refuseGap }: FollowEventsOptions,
): Feed<SessionEvent> {
  let last = after
  let stopped = false
  const feed: Feed<SessionEvent> = {
    call: callOf('GET /sessions/:id/events', { params: { id }, query: { after }, signal }),
    cursor: String(after),
    onState,
    apply(message) {
      if (message.event === 'gap') {
        const gap = JSON.parse(message.data) as EventGap
        // Reported before the connection broke.
        if (gap.first - 1 <= last) return []
        last = gap.first - 1
        feed.cursor = String(last)
        report(onGap, gap)
        return []
      }
      const event = eventOf(message)
      if (event === undefined || event.seq <= last) return []
      last = event.seq
      feed.cursor = String(last)
      stopped = event.type === 'session-stopped'
      return [event]
    },
    isComplete: () => stopped,
  }
  return feed
}

/** A message with a numeric id is an event of the log; others are ignored. */
function eventOf({ id, data }: EventSourceMessage): SessionEvent | undefined {
  return id !== undefined && /^\d+$/.test(id) ? (JSON.parse(data) as SessionEvent) : undefined
}

function report(onGap: (gap: EventGap) => void, gap: EventGap): void {
  try {
    onGap(gap)
  } catch (thrown) {
    throw new ListenerFailure(thrown)
  }
}

function refuseGap({ after, first }: EventGap): never {
  throw new AgentprotoError('storage_corrupt', `The events ${after + 1} to ${first - 1} of the session are lost`, {
    hint: `Follow with after: ${first - 1}, or pass onGap`,
    data: { after, first },
  })
}
