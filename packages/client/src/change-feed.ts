import type { Session, SessionChange } from '@agentproto/contracts'
import type { EventSourceMessage } from 'eventsource-parser'
import type { OnConnectionState } from './connection-state.js'
import type { Feed } from './feed.js'
import { callOf } from './operation-call.js'

export interface WatchOptions {
  readonly signal?: AbortSignal | undefined
  /** Told when the connection comes and goes. */
  readonly onState?: OnConnectionState
  /** Whether every session as it is comes first. Default true; else who wants to know asks once `onState` says connected. */
  readonly listed?: boolean
}

/**
 * The changes of all sessions as a feed that never ends by itself. After each connect comes every session
 * as it is then, and the ids that went away meanwhile: what happened during an outage is not lost.
 */
export function changeFeed(
  listAll: () => Promise<readonly Session[]>,
  { signal, onState, listed = true }: WatchOptions,
): Feed<SessionChange> {
  const known = new Set<string>()
  return {
    call: callOf('GET /events', { signal }),
    cursor: undefined,
    onState,
    async onConnect() {
      if (!listed) return []
      const sessions = await listAll()
      const present = new Set(sessions.map((session) => session.id))
      const gone = [...known].filter((id) => !present.has(id))
      const changes: SessionChange[] = [
        ...gone.map((id) => ({ type: 'forgotten', id }) as const),
        ...sessions.map((session) => ({ type: 'session', session }) as const),
      ]
      for (const change of changes) note(known, change)
      return changes
    },
    take(message) {
      const change = changeOf(message)
      if (change === undefined) return []
      note(known, change)
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

function note(known: Set<string>, change: SessionChange): void {
  if (change.type === 'session') known.add(change.session.id)
  else known.delete(change.id)
}
