import type { Timer } from '@agentproto/contracts'
import { messageOf } from './lifecycle/ending.js'
import type { SessionHost } from './session-host.js'
import type { SessionHandle } from './session/session-handle.js'

/** Saves records when they change: at once for a change of state, a little later for mere activity. */

/**
 * A state that follows another this closely is saved with it, in milliseconds. Nothing depends on it: after
 * a crash the record catches up with the log.
 */
const URGENT_MS = 100
const ACTIVITY_MS = 2_000

export class RecordSaver {
  readonly #options: Pick<SessionHost, 'store' | 'clock' | 'onProblem'>
  readonly #due = new Map<SessionHandle, { readonly timer: Timer; readonly isUrgent: boolean }>()
  readonly #forgotten = new WeakSet<SessionHandle>()

  constructor(options: Pick<SessionHost, 'store' | 'clock' | 'onProblem'>) {
    this.#options = options
  }

  changed(session: SessionHandle, isUrgent: boolean): void {
    const due = this.#due.get(session)
    if (due !== undefined && (due.isUrgent || !isUrgent)) return
    due?.timer.cancel()
    const timer = this.#options.clock.after(isUrgent ? URGENT_MS : ACTIVITY_MS, () => void this.save(session))
    this.#due.set(session, { timer, isUrgent })
  }

  /** Whether the store does not have the session's latest state yet. */
  isDue(session: SessionHandle): boolean {
    return this.#due.has(session)
  }

  /** Saves now. A failure is reported, and the next change tries again; the log still has everything. */
  async save(session: SessionHandle): Promise<void> {
    this.#due.get(session)?.timer.cancel()
    this.#due.delete(session)
    // A record must not have an end that its log lacks: without it, the next host completes the log.
    if (this.#forgotten.has(session) || session.log.hasPendingWrites) return
    try {
      await this.#options.store.save(session.stored())
    } catch (error) {
      this.#options.onProblem(messageOf(error))
    }
  }

  async forget(session: SessionHandle): Promise<void> {
    this.#forgotten.add(session)
    await this.save(session)
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#due.keys(), (session) => this.save(session)))
  }
}
