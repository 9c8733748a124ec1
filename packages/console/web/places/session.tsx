import type { Session } from '@agentproto/client'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'
import { SessionFeed } from '../gateway/session-feed.js'
import { VirtualList } from '../parts/virtual-list.js'
import { RequestList } from '../requests/request-list.js'
import { EventsView } from '../session/events-view.js'
import { PlanView } from '../session/plan-view.js'
import { PromptBox } from '../session/prompt-box.js'
import { QueueView } from '../session/queue-view.js'
import { SessionHeader } from '../session/session-header.js'
import { PartView } from '../transcript/part-view.js'

/** One session: what it said and did, what it asks, and a box to prompt it. */
export function SessionPlace({ gateway, id }: { readonly gateway: Gateway; readonly id: string }) {
  const feed = useMemo(() => new SessionFeed(gateway, id), [gateway, id])
  useEffect(() => () => feed.close(), [feed])
  const [hasEvents, setHasEvents] = useState(false)
  const session = gateway.sessions.value.get(id)
  const prompts = (): readonly string[] => feed.transcript.prompts
  return (
    <section class="session" aria-labelledby="place">
      {session === undefined ? null : <SessionHeader gateway={gateway} session={session} />}
      <label class="as-events">
        <input type="checkbox" checked={hasEvents} onChange={({ currentTarget: box }) => setHasEvents(box.checked)} />{' '}
        events, for debugging
      </label>
      {hasEvents ? <EventsView gateway={gateway} id={id} feed={feed} /> : <TranscriptView feed={feed} />}
      <RequestList gateway={gateway} sessionId={id} />
      {session === undefined ? null : <QueueView gateway={gateway} session={session} />}
      {session !== undefined && isPromptable(session) && gateway.may('operate') ? (
        <PromptBox gateway={gateway} session={session} prompts={prompts} />
      ) : null}
    </section>
  )
}

const isPromptable = ({ status, wakeable }: Session): boolean =>
  status === 'starting' || status === 'running' || wakeable

function TranscriptView({ feed }: { readonly feed: SessionFeed }) {
  const { parts, plan } = feed.transcript
  // Reading it makes each frame draw this view again.
  void feed.frame.value
  return (
    <>
      {feed.problem.value === '' ? null : <p role="alert">{feed.problem.value}</p>}
      <PlanView entries={plan} />
      <VirtualList
        count={parts.length}
        estimate={60}
        label="Transcript"
        keyOf={(index) => parts[index]?.key ?? ''}
        row={(index) => {
          const part = parts[index]
          return part === undefined ? null : <PartView part={part} />
        }}
      />
    </>
  )
}
