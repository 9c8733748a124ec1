import type { SessionEvent } from '@agentproto/client'
import { useEffect, useState } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'
import { useCalling } from '../parts/calling.js'
import { OutsideBlock } from '../parts/outside.js'

/** Events of one page of the view. */
const PAGE = 100

interface EventsViewProps {
  readonly gateway: Gateway
  readonly id: string
  readonly lastSeq: number
}

/** The log as it is, for debugging: one page of events at a time, the newest first shown. */
export function EventsView({ gateway, id, lastSeq }: EventsViewProps) {
  const [after, setAfter] = useState(Math.max(0, lastSeq - PAGE))
  const [events, setEvents] = useState<readonly SessionEvent[]>([])
  const { problem, isBusy, call } = useCalling()
  const read = async (): Promise<void> => setEvents((await gateway.client.sessions.eventsPage(id, after, PAGE)).events)
  useEffect(() => void call(read), [id, after])
  return (
    <section class="events" aria-label="Events">
      <div class="bar">
        <button type="button" disabled={isBusy || after === 0} onClick={() => setAfter(Math.max(0, after - PAGE))}>
          Earlier
        </button>
        <button
          type="button"
          disabled={isBusy || after + PAGE >= lastSeq}
          onClick={() => setAfter(events.at(-1)?.seq ?? after)}
        >
          Later
        </button>
        <span class="dim">
          {events.at(0)?.seq ?? 0} to {events.at(-1)?.seq ?? 0} of {lastSeq}
        </span>
      </div>
      <p class="problem" role="alert">
        {problem}
      </p>
      <OutsideBlock label="Events" text={events.map((event) => JSON.stringify(event)).join('\n')} />
    </section>
  )
}
