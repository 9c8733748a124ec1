import { unreachable } from '../calls/exchange.js'
import type { FleetView } from './fleet-services-options.js'

/** Sessions that another host has just created here, which the copy of the directory may not have yet. */
const MAX_RECENT = 1_000

/** Whose a session is. */
export class Owners {
  readonly #host: string
  readonly #view: FleetView
  readonly #recent = new Map<string, string>()

  constructor({ host, view }: { readonly host: string; readonly view: FleetView }) {
    this.#host = host
    this.#view = view
  }

  /** As {@link otherShown}, for calls. @throws `host_unreachable` for a session that a host has taken over, and that is not whole there yet */
  otherOf(id: string): string | undefined {
    const record = this.#view.session(id)
    if (record?.session.state === 'unreachable' && this.#isHeard(record.owner))
      throw unreachable(record.owner, 'The session is being taken over from a host that is lost')
    return this.otherShown(id)
  }

  #isHeard(host: string): boolean {
    return host === this.#host || this.#view.isReachable(host)
  }

  /** Another host; undefined for a session of this host, and for one that is not known: then this host says so. */
  otherShown(id: string): string | undefined {
    const owner = this.#view.session(id)?.owner ?? this.#recent.get(id)
    return owner === this.#host ? undefined : owner
  }

  /** A call to that host has created the session. */
  created(id: string, host: string): void {
    if (this.#recent.size >= MAX_RECENT)
      for (const oldest of [...this.#recent.keys()].slice(0, 1)) this.#recent.delete(oldest)
    this.#recent.set(id, host)
  }

  forgotten(id: string): void {
    this.#recent.delete(id)
  }

  /** All other hosts. */
  get others(): readonly string[] {
    return this.#view.hosts().filter((host) => host !== this.#host)
  }

  /** Whether there is no other host, and no session of one. */
  get isAlone(): boolean {
    return this.others.length === 0 && this.#recent.size === 0
  }
}
