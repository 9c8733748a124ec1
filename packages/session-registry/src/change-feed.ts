import type { Clock, Session, Timer } from '@agentproto/contracts'
import { PendingChanges, type SessionChange, type SessionWatcher } from '@agentproto/contracts/wire'
import type { SessionHandle } from './session/session-handle.js'

/** Changes of all sessions for readers of the list; a watcher that lags gets the latest of each. */

/** Activity that does not change the state is reported at most this often, in milliseconds. */
const ACTIVITY_MS = 250

export class ChangeFeed {
  readonly watchers = new Set<Watcher>()
  readonly #clock: Clock
  #active = new Set<SessionHandle>()
  #timer: Timer | undefined
  #closed = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @param isInScope Sessions that the watcher may see; without it all */
  watch(isInScope?: (session: Session) => boolean): SessionWatcher {
    const watcher = new Watcher(() => this.watchers.delete(watcher), isInScope)
    if (this.#closed) watcher.close()
    else this.watchers.add(watcher)
    return watcher
  }

  /** A session has changed; without watchers there is nothing to do. */
  changed(session: SessionHandle, isUrgent: boolean): void {
    if (isUrgent) {
      this.#active.delete(session)
      return this.#report(session)
    }
    this.#active.add(session)
    this.#timer ??= this.#clock.after(ACTIVITY_MS, () => {
      this.#timer = undefined
      const active = this.#active
      this.#active = new Set()
      for (const each of active) this.#report(each)
    })
  }

  forgotten(session: Session): void {
    const { id } = session
    for (const watcher of this.watchers) watcher.offer(session, { type: 'forgotten', id })
  }

  close(): void {
    this.#closed = true
    this.#timer?.cancel()
    for (const watcher of this.watchers) watcher.close()
  }

  #report(session: SessionHandle): void {
    for (const watcher of this.watchers) {
      const snapshot = session.snapshot()
      watcher.offer(snapshot, { type: 'session', session: snapshot })
    }
  }
}

class Watcher extends PendingChanges {
  readonly #isInScope: ((session: Session) => boolean) | undefined

  constructor(onEnd: () => void, isInScope?: (session: Session) => boolean) {
    super(onEnd)
    this.#isInScope = isInScope
  }

  offer(session: Session, change: SessionChange): void {
    if (this.#isInScope?.(session) !== false) this.put(change)
  }
}
