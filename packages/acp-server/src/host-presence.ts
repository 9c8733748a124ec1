import { AgentprotoError, type Session } from '@agentproto/contracts'
import type { ServeOptions } from './acp-host.js'
import type { OnSession, WatchedSessions } from './watched-sessions.js'

/** Receives a session after each change, and whether its host was away before: then it goes on now, there or on another host. */
export type OnPresence = (session: Session, hosts: { readonly isAway: boolean; readonly wasAway: boolean }) => void

/** Sessions of other hosts that a client has open, as they change: a host may be lost, and come back. */
export class HostPresence {
  readonly #watched: WatchedSessions
  readonly #isElsewhere: NonNullable<ServeOptions['isElsewhere']>
  readonly #followed = new Map<string, OnSession>()

  constructor(watched: WatchedSessions, isElsewhere: ServeOptions['isElsewhere'] = () => false) {
    this.#watched = watched
    this.#isElsewhere = isElsewhere
  }

  async add(session: Session, onPresence: OnPresence): Promise<void> {
    const { id } = session
    let wasAway = false
    const onSession: OnSession = (now) => {
      const hosts = { isAway: now.state === 'unreachable', wasAway }
      wasAway = hosts.isAway
      onPresence(now, hosts)
    }
    this.delete(id)
    this.#followed.set(id, onSession)
    if (!(await this.#isElsewhere(session))) return
    // It may have been closed meanwhile.
    if (this.#followed.get(id) === onSession) this.#watched.add(id, onSession)
  }

  delete(id: string): void {
    const onSession = this.#followed.get(id)
    if (onSession === undefined) return
    this.#followed.delete(id)
    this.#watched.delete(id, onSession)
  }
}

/** What the turns end with that a client waits for, and whose host is lost: only that host knows their end. */
export const lostHost = (host: string): AgentprotoError =>
  new AgentprotoError('host_unreachable', 'The host of the session is not heard from', {
    given: host,
    hint: 'The session goes on when the host is back; `agentproto hosts` has the time when it was last heard from',
    data: { host, retryAfter: RETRY_SECONDS },
  })

const RETRY_SECONDS = 5
