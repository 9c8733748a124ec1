import type { Client, EventsPage, SessionEvent } from '@agentproto/client'

/** A part of a log: the events after a number. */
export interface EventsBefore {
  readonly events: readonly SessionEvent[]
  readonly after: number
  /** Some of them cannot be read any more. */
  readonly isLossy: boolean
}

/** A page ends where the gateway's reading does: so many are read before fewer events are asked for. */
const MAX_PAGES = 16

type ReadPage = (after: number, limit: number) => Promise<EventsPage>

/** The events up to `end`, at most `count`; fewer if they are large. */
export async function eventsBefore(read: ReadPage, end: number, count: number): Promise<EventsBefore> {
  const after = Math.max(0, end - count)
  const events: SessionEvent[] = []
  let isLossy = false
  let next = after
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await read(next, end - next)
    events.push(...page.events)
    isLossy ||= page.gap !== undefined
    const isLast = page.nextAfter >= end || page.nextAfter <= next
    if (isLast || count === 1) return { events, after, isLossy }
    next = page.nextAfter
  }
  // They are large. Only the last ones are wanted.
  return await eventsBefore(read, end, Math.max(1, (next - after) >> 1))
}

export const pagesOf =
  (client: Client, id: string): ReadPage =>
  async (after, limit) =>
    limit < 1 ? { events: [], nextAfter: after } : await client.sessions.eventsPage(id, after, limit)
