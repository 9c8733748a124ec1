import type { Clock, Session, Timer } from '@agentproto/contracts'
import type { SessionChange, SessionWatcher } from '@agentproto/contracts/wire'
import type { SessionHandle } from './session/session-handle.js'
import { Wakeup } from './log/wakeup.js'

/** Changes of all sessions for readers of the list; a watcher that lags gets the latest of each. */

/** Activity that does not change the state is reported at most this often, in milliseconds. */
const ACTIVITY_MS = 250
const MAX_PENDING = 20_000

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
    for (const watcher of this.watchers) watcher.put(session, { type: 'forgotten', id })
  }

  close(): void {
    this.#closed = true
    this.#timer?.cancel()
    for (const watcher of this.watchers) watcher.close()
  }

  #report(session: SessionHandle): void {
    for (const watcher of this.watchers) {
      const snapshot = session.snapshot()
      watcher.put(snapshot, { type: 'session', session: snapshot })
    }
  }
}

class Watcher implements SessionWatcher {
  readonly #wakeup = new Wakeup()
  readonly #onClose: () => void
  readonly #isInScope: ((session: Session) => boolean) | undefined
  #pending = new Map<string, SessionChange>()
  #closed = false

  constructor(onClose: () => void, isInScope?: (session: Session) => boolean) {
    this.#onClose = onClose
    this.#isInScope = isInScope
  }

  put(session: Session, change: SessionChange): void {
    const { id } = session
    if (this.#isInScope?.(session) === false) return
    // Deleted first so that the newest change of a session is also the last in order.
    this.#pending.delete(id)
    if (this.#pending.size >= MAX_PENDING) this.#pending.delete(this.#pending.keys().next().value as string)
    this.#pending.set(id, change)
    this.#wakeup.wake()
  }

  async next(signal?: AbortSignal): Promise<readonly SessionChange[] | undefined> {
    while (!this.#closed && !(signal?.aborted ?? false)) {
      if (this.#pending.size > 0) {
        const changes = [...this.#pending.values()]
        this.#pending = new Map()
        return changes
      }
      await this.#wakeup.wait(signal)
    }
    return undefined
  }

  close(): void {
    this.#closed = true
    this.#onClose()
    this.#wakeup.wake()
  }
}
