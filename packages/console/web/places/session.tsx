import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'
import { SessionFeed } from '../gateway/session-feed.js'
import { HostNote } from '../hosts/host-note.js'
import { isAway, isPromptable } from '../hosts/is-away.js'
import { RequestList } from '../requests/request-list.js'
import { EventsView } from '../session/events-view.js'
import { PromptBox } from '../session/prompt-box.js'
import { QueueView } from '../session/queue-view.js'
import { SessionHeader } from '../session/session-header.js'
import { ReadingPlace } from '../transcript/reading-place.js'
import { TranscriptView } from '../transcript/transcript-view.js'

/** One session: what it said and did, what it asks, and a box to prompt it. */
export function SessionPlace({ gateway, id }: { readonly gateway: Gateway; readonly id: string }) {
  const place = useMemo(() => new ReadingPlace(id), [id])
  const feed = useMemo(() => new SessionFeed(gateway, id, { place: place.first }), [gateway, id])
  useEffect(() => () => feed.close(), [feed])
  // The same element for each state of the session: it is drawn again only for its own events.
  const transcript = useMemo(() => <TranscriptView feed={feed} place={place} />, [feed, place])
  const [hasEvents, setHasEvents] = useState(false)
  const session = gateway.sessions.value.get(id)
  const isUnheard = isAway(session)
  useEffect(() => (isUnheard ? gateway.requests.show(id) : undefined), [gateway, id, isUnheard])
  const prompts = (): readonly string[] => feed.transcript.prompts
  return (
    <section class="session" aria-labelledby="place">
      {session === undefined ? null : <SessionHeader gateway={gateway} session={session} />}
      {session === undefined ? null : <HostNote gateway={gateway} session={session} />}
      <label class="as-events">
        <input type="checkbox" checked={hasEvents} onChange={({ currentTarget: box }) => setHasEvents(box.checked)} />{' '}
        events, for debugging
      </label>
      {hasEvents ? <EventsView gateway={gateway} id={id} feed={feed} /> : transcript}
      <RequestList gateway={gateway} sessionId={id} />
      {session === undefined ? null : <QueueView gateway={gateway} session={session} />}
      {session !== undefined && isPromptable(session) && gateway.may('operate') ? (
        <PromptBox gateway={gateway} session={session} prompts={prompts} />
      ) : null}
    </section>
  )
}
