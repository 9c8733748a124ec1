import type { SessionRecord } from './directory-records.js'
import type { HostDirectory } from './host-directory.js'
import { RecordFeed } from './record-feed.js'

const NONE: ReadonlySet<string> = new Set()

/** Which sessions each host has, and the readers of changes. */
export class KnownSessions {
  readonly feed = new RecordFeed()
  readonly #hosts: HostDirectory
  readonly #byOwner = new Map<string, Set<string>>()
  readonly #owners = new Map<string, string>()
  /** Hosts that were reachable when their sessions were last reported. */
  readonly #reachable = new Set<string>()

  constructor(hosts: HostDirectory) {
    this.#hosts = hosts
    for (const { record, isReachable } of hosts.hosts()) if (isReachable) this.#reachable.add(record.host)
  }

  owners(): Iterable<string> {
    return this.#byOwner.keys()
  }

  ownedBy(host: string): ReadonlySet<string> {
    return this.#byOwner.get(host) ?? NONE
  }

  seen(id: string, record: SessionRecord | undefined): void {
    this.#index(id, record?.owner)
    this.feed.changed(id)
  }

  /** All sessions of a host that is lost, or back, change. */
  hostChanged(host: string): void {
    const isReachable = this.#hosts.isReachable(host)
    if (this.#reachable.has(host) === isReachable) return
    if (isReachable) this.#reachable.add(host)
    else this.#reachable.delete(host)
    for (const id of this.ownedBy(host)) this.feed.changed(id)
  }

  #index(id: string, owner: string | undefined): void {
    const before = this.#owners.get(id)
    if (before === owner) return
    if (before !== undefined) this.#leave(before, id)
    if (owner === undefined) this.#owners.delete(id)
    else this.#join(owner, id)
  }

  #join(owner: string, id: string): void {
    this.#owners.set(id, owner)
    const ids = this.#byOwner.get(owner)
    if (ids === undefined) this.#byOwner.set(owner, new Set([id]))
    else ids.add(id)
  }

  #leave(owner: string, id: string): void {
    const ids = this.#byOwner.get(owner)
    ids?.delete(id)
    if (ids?.size === 0) this.#byOwner.delete(owner)
  }
}
