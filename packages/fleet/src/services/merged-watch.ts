import type { Session } from '@agentproto/contracts'
import {
  PendingChanges,
  type Reader,
  type SessionBounds,
  type SessionChange,
  type SessionWatcher,
} from '@agentproto/contracts/wire'
import type { FleetView } from './fleet-services-options.js'

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
  readonly #pending: PendingChanges
  /** With bounds: the sessions of other hosts that were shown, so that no other one is reported as forgotten. */
  readonly #shown = new Set<string>()

  constructor(options: MergedWatchOptions) {
    this.#options = options
    this.#copy = options.view.watch()
    this.#pending = new PendingChanges(() => this.#endSources())
    // Without its own sessions, or without the others, it would be silently incomplete: it ends with either.
    for (const pump of [this.#pumpOwn(), this.#pumpCopy()])
      void pump.then(
        () => this.#pending.end(),
        (thrown: unknown) => this.#pending.end({ thrown }),
      )
  }

  get fellBehind(): boolean {
    return this.#pending.fellBehind
  }

  next(signal?: AbortSignal): Promise<readonly SessionChange[] | undefined> {
    return this.#pending.next(signal)
  }

  close(): void {
    this.#pending.close()
  }

  #endSources(): void {
    this.#options.own.close()
    this.#copy.close()
  }

  async #pumpOwn(): Promise<void> {
    const { own } = this.#options
    for (let changes = await own.next(); changes !== undefined; changes = await own.next())
      for (const change of changes) this.#pending.put(change)
    if (own.fellBehind === true) this.#pending.fallBehind()
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
      this.#pending.put({ type: 'session', session })
    } else if (record === undefined && (within === undefined || this.#shown.delete(id)))
      this.#pending.put({ type: 'forgotten', id })
  }
}
