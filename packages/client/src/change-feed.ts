import { everySession, type Session } from '@agentproto/contracts'
import type { SessionChange, SessionService } from '@agentproto/contracts/wire'
import type { EventSourceMessage } from 'eventsource-parser'
import type { FollowOptions } from './connection-state.js'
import type { Feed } from './feed.js'
import { callOf } from './operation-call.js'

export interface WatchOptions extends FollowOptions {
  /** Whether all sessions are listed first. Default true; otherwise list them when `onState` says connected. */
  readonly listed?: boolean
}

/** All changes, without end. Each connect gives all sessions and the ids of deleted ones: an outage loses nothing. */
export function changeFeed(
  source: Pick<SessionService, 'list'>,
  { signal, onState, listed = true }: WatchOptions,
): Feed<SessionChange> {
  const known = new Set<string>()
  return {
    call: callOf('GET /events', { signal }),
    cursor: undefined,
    onState,
    async onConnect() {
      if (!listed) return []
      const sessions: Session[] = []
      for await (const session of everySession(source)) sessions.push(session)
      const present = new Set(sessions.map((session) => session.id))
      const gone = [...known].filter((id) => !present.has(id))
      const changes: SessionChange[] = [
        ...gone.map((id) => ({ type: 'forgotten', id }) as const),
        ...sessions.map((session) => ({ type: 'session', session }) as const),
      ]
      for (const change of changes) remember(known, change)
      return changes
    },
    apply(message) {
      const change = changeOf(message)
      if (change === undefined) return []
      remember(known, change)
      return [change]
    },
    isComplete: () => false,
  }
}

function changeOf({ event, data }: EventSourceMessage): SessionChange | undefined {
  if (event === 'session') return { type: 'session', session: JSON.parse(data) as Session }
  if (event === 'forgotten') return { type: 'forgotten', id: (JSON.parse(data) as { id: string }).id }
  return undefined
}

function remember(known: Set<string>, change: SessionChange): void {
  if (change.type === 'session') known.add(change.session.id)
  else known.delete(change.id)
}
