import type { Session } from '@agentproto/client'
import type { Gateway } from '../gateway/gateway.js'
import { HostLink } from './host-link.js'
import { isAway } from './is-away.js'

interface HostNoteProps {
  readonly gateway: Gateway
  readonly session: Session
}

/** What a person has to know of the host of a session: it is away, or the session was moved. Nothing for any other session. */
export function HostNote({ gateway, session }: HostNoteProps) {
  const { movedFrom, movedTo, hostId } = session
  return (
    <div class="host-note" role="status">
      {isAway(session) ? <AwayNote gateway={gateway} session={session} /> : null}
      {movedTo === undefined ? null : (
        <p class="note warning">
          It was moved: the host <HostLink name={movedTo} /> continues it. What is here is what this host last knew.
        </p>
      )}
      {movedFrom === undefined || isAway(session) ? null : (
        <p class="note dim">
          It was moved: its host <HostLink name={movedFrom} /> was lost, and <HostLink name={hostId} /> continues it
          with its transcript.
        </p>
      )}
    </div>
  )
}

function AwayNote({ gateway, session: { hostId, onHostLoss } }: HostNoteProps) {
  const lastSeen = gateway.hosts.all.value.find(({ name }) => name === hostId)?.lastSeen
  const since = lastSeen === undefined ? '' : ` since ${new Date(lastSeen).toLocaleTimeString()}`
  return (
    <p class="note warning">
      Its host <HostLink name={hostId} /> is not heard from{since}. What it has published can be read; all else is
      possible again when it is back{onHostLoss === 'move' ? ', or when another host continues the session' : ''}.
    </p>
  )
}
