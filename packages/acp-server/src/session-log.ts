import type { EventGap, SessionEvent } from '@agentproto/contracts'
import type { EventRecord } from '@agentproto/contracts/agent'
import type { AcpSessions } from './acp-host.js'

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

/** What the gateway stored was checked when it was stored. */
export const eventOf = ({ json }: EventRecord): SessionEvent => JSON.parse(json) as SessionEvent
