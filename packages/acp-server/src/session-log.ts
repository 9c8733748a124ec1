import type { EventGap, SessionEvent } from '@agentproto/contracts'
import type { AcpSessions, FollowOptions } from './acp-host.js'

const PAGE = 1_000

/** What one read of a log brings. */
export interface LogPage {
  readonly events: readonly SessionEvent[]
  readonly gap?: EventGap | undefined
}

/** The events after `after`, up to and including `until`. */
export async function* historyOf(
  sessions: AcpSessions,
  id: string,
  { after: from, until }: { readonly after: number; readonly until: number },
): AsyncGenerator<LogPage> {
  for (let after = from; after < until;) {
    const { events, nextAfter, gap } = await sessions.eventsPage(id, after, PAGE)
    yield { events: events.filter(({ seq }) => seq <= until), gap }
    // The log was truncated meanwhile: there are no more events.
    if (nextAfter <= after) break
    after = nextAfter
  }
}

/** Follows a log: all events of one read at once, where the sessions have them so. */
export const batchesOf = (
  sessions: AcpSessions,
  id: string,
  options: FollowOptions,
): AsyncIterable<readonly SessionEvent[]> =>
  sessions.eventBatches?.(id, options) ?? oneByOne(sessions.events(id, options))

async function* oneByOne(events: AsyncIterable<SessionEvent>): AsyncGenerator<readonly SessionEvent[]> {
  for await (const event of events) yield [event]
}
