import type { SessionChange, SessionWatcher } from './session-service.js'

/** Sessions whose change was not read yet; with more, the watch ends. */
export const PENDING_CHANGES_MAX = 20_000

/**
 * Changes of sessions that wait for their one reader: the latest of each session, the newest last. Where they are too many to
 * hold, the watch ends rather than be silently incomplete.
 */
export class PendingChanges implements SessionWatcher {
  readonly #onEnd: () => void
  readonly #pending = new Map<string, SessionChange>()
  #isOver = false
  #fellBehind = false
  #failure: { readonly thrown: unknown } | undefined
  #wake: () => void = () => undefined

  /** @param onEnd Called once, when nothing more is put in */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  get fellBehind(): boolean {
    return this.#fellBehind
  }

  put(change: SessionChange): void {
    if (this.#isOver) return
    const id = change.type === 'session' ? change.session.id : change.id
    // Deleted first, so that the newest change is also the last in order.
    this.#pending.delete(id)
    if (this.#pending.size >= PENDING_CHANGES_MAX) return this.fallBehind()
    this.#pending.set(id, change)
    this.#wake()
  }

  /** Changes are missing: what was not read yet is of no use, since the reader lists all sessions again. */
  fallBehind(): void {
    if (this.#isOver) return
    this.#fellBehind = true
    this.close()
  }

  /** What was put in before is read first, then the failure is thrown. */
  end(failure?: { readonly thrown: unknown }): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#failure = failure
    this.#onEnd()
    this.#wake()
  }

  async next(signal?: AbortSignal): Promise<readonly SessionChange[] | undefined> {
    while (signal?.aborted !== true) {
      if (this.#pending.size > 0) return this.#taken()
      if (this.#failure !== undefined) throw this.#failure.thrown
      if (this.#isOver) return undefined
      await this.#woken(signal)
    }
    return undefined
  }

  close(): void {
    this.#pending.clear()
    this.end()
  }

  #taken(): readonly SessionChange[] {
    const changes = [...this.#pending.values()]
    this.#pending.clear()
    return changes
  }

  #woken(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const resume = (): void => {
        signal?.removeEventListener('abort', resume)
        resolve()
      }
      this.#wake = resume
      signal?.addEventListener('abort', resume, { once: true })
    })
  }
}
