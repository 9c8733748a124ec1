import { isLive } from '@agentproto/contracts'
import type { OnSession, WatchedSessions } from './watched-sessions.js'

interface Waiting {
  /** The last known event. */
  readonly last: number
  /** @param lastSeq the last event of the gateway's log */
  readonly onRevived: (lastSeq: number) => void
}

/** Ended sessions that a client has open: reports it when another client resumes one. */
export class EndedSessions {
  readonly #watched: WatchedSessions
  readonly #waiting = new Map<string, OnSession>()

  constructor(watched: WatchedSessions) {
    this.#watched = watched
  }

  /** Calls back once, as soon as the session runs or its log has new events. */
  add(id: string, { last, onRevived }: Waiting): void {
    this.delete(id)
    const onSession: OnSession = (session) => {
      if (!isLive(session) && session.lastSeq <= last) return
      this.delete(id)
      onRevived(session.lastSeq)
    }
    this.#waiting.set(id, onSession)
    this.#watched.add(id, onSession)
  }

  delete(id: string): void {
    const onSession = this.#waiting.get(id)
    if (onSession === undefined) return
    this.#waiting.delete(id)
    this.#watched.delete(id, onSession)
  }
}
