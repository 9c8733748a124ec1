import { useState } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'
import type { SessionFeed } from '../gateway/session-feed.js'
import { OutsideBlock } from '../parts/outside.js'
import { Problem } from '../parts/problem.js'
import { useAnswer } from '../parts/use-answer.js'
import { useCalm } from '../parts/use-calm.js'

/** Events of one page of the view. */
const PAGE = 100

/** While events stream, the newest page is read again only so often, in milliseconds. */
const READ_MS = 300

interface EventsViewProps {
  readonly gateway: Gateway
  readonly id: string
  readonly feed: SessionFeed
}

/** The log as it is, for debugging: one page of events at a time, at first the newest ones as they come. */
export function EventsView({ gateway, id, feed }: EventsViewProps) {
  // Reading it makes each frame draw this view again.
  void feed.frame.value
  const lastSeq = useCalm(feed.transcript.lastSeq, READ_MS)
  const newest = Math.max(0, lastSeq - PAGE)
  const [chosen, setChosen] = useState<number>()
  const after = chosen ?? newest
  const { value, problem } = useAnswer(() => gateway.client.sessions.eventsPage(id, after, PAGE), `${id} ${after}`)
  const events = value?.events ?? []
  const later = (): void => setChosen(after + PAGE < newest ? after + PAGE : undefined)
  return (
    <section class="events" aria-label="Events">
      <div class="bar">
        <button type="button" disabled={after === 0} onClick={() => setChosen(Math.max(0, after - PAGE))}>
          Earlier
        </button>
        <button type="button" disabled={chosen === undefined} onClick={later}>
          Later
        </button>
        <span class="dim">
          {events.at(0)?.seq ?? 0} to {events.at(-1)?.seq ?? 0} of {lastSeq}
        </span>
      </div>
      <Problem text={problem} />
      <OutsideBlock label="Events" text={events.map((event) => JSON.stringify(event)).join('\n')} />
    </section>
  )
}
