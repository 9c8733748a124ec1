import type { EventGap, SessionEvent } from '@agentproto/contracts'
import type { EventRecord } from '@agentproto/contracts/agent'
import type { AcpSessions } from './acp-host.js'

const PAGE = 1_000

/** What one read of a log brings. */
interface LogPage {
  readonly events: readonly SessionEvent[]
  readonly gap?: EventGap | undefined
  /** The log is read up to this event. */
  readonly last: number
}

/** The events after `after`, up to and including `until`, as far as there are any. */
export async function* historyOf(
  sessions: AcpSessions,
  id: string,
  { after: from, until }: { readonly after: number; readonly until: number },
): AsyncGenerator<LogPage> {
  for (let after = from; after < until;) {
    const { events, nextAfter, gap } = await sessions.eventsPage(id, after, PAGE)
    yield { events: events.filter(({ seq }) => seq <= until), gap, last: Math.min(nextAfter, until) }
    // There are no more events: of a lost host's log only a part may be known, and a log may be truncated.
    if (nextAfter <= after) break
    after = nextAfter
  }
}

/** What the gateway stored was checked when it was stored. */
export const eventOf = ({ json }: EventRecord): SessionEvent => JSON.parse(json) as SessionEvent
