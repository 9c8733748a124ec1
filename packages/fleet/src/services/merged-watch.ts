import type { Session } from '@agentproto/contracts'
import type { Reader, SessionBounds, SessionChange, SessionWatcher } from '@agentproto/contracts/wire'
import type { FleetView } from './fleet-services-options.js'

/** Sessions whose change was not read yet; when there are more, the watch ends, and its reader lists them again. */
export const PENDING_MAX = 20_000

export interface MergedWatchOptions {
  readonly host: string
  readonly view: FleetView
  /** Changes of this host's own sessions, within the bounds. */
  readonly own: SessionWatcher
  readonly within: SessionBounds | undefined
  /** The session of another host as this host shows it; undefined outside of the bounds. */
  readonly shown: (id: string) => Session | undefined
}

/**
 * Changes of the sessions of all hosts. A slow reader gets the latest record of each session, not every change. A host that is lost
 * changes all its sessions at once: where these are too many to hold, the watch ends rather than be silently incomplete.
 */
export class MergedWatch implements SessionWatcher {
  readonly #options: MergedWatchOptions
  readonly #copy: Reader<readonly string[]>
  readonly #pending = new Map<string, SessionChange>()
  /** With bounds: the sessions of other hosts that were shown, so that no other one is reported as forgotten. */
  readonly #shown = new Set<string>()
  #isOver = false
  #failure: { readonly thrown: unknown } | undefined
  #wake: () => void = () => undefined

  constructor(options: MergedWatchOptions) {
    this.#options = options
    this.#copy = options.view.watch()
    // Without its own sessions, or without the others, it would be silently incomplete: it ends with either.
    for (const pump of [this.#pumpOwn(), this.#pumpCopy()])
      void pump.catch((thrown: unknown) => (this.#failure = { thrown })).finally(() => this.close())
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
    this.#isOver = true
    this.#options.own.close()
    this.#copy.close()
    this.#wake()
  }

  async #pumpOwn(): Promise<void> {
    const { own } = this.#options
    for (let changes = await own.next(); changes !== undefined; changes = await own.next())
      for (const change of changes) this.#put(change.type === 'session' ? change.session.id : change.id, change)
  }

  async #pumpCopy(): Promise<void> {
    for (let ids = await this.#copy.next(); ids !== undefined; ids = await this.#copy.next())
      for (const id of ids) this.#putCopied(id)
  }

  #putCopied(id: string): void {
    const { view, host, within, shown } = this.#options
    const record = view.session(id)
    if (record?.owner === host) return
    const session = shown(id)
    if (session !== undefined) {
      if (within !== undefined) this.#shown.add(id)
      this.#put(id, { type: 'session', session })
    } else if (record === undefined && (within === undefined || this.#shown.delete(id)))
      this.#put(id, { type: 'forgotten', id })
  }

  #put(id: string, change: SessionChange): void {
    if (this.#isOver) return
    const pending = this.#pending
    // Deleted first, so that the newest change is also the last in order.
    pending.delete(id)
    if (pending.size >= PENDING_MAX) return this.#overflow()
    pending.set(id, change)
    this.#wake()
  }

  #overflow(): void {
    this.#pending.clear()
    this.close()
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
