import type { Timer } from '@agentproto/contracts'
import { isStoredAgain, type Stored } from '../cluster/bucket.js'
import type { Heard } from '../cluster/bucket-copy.js'
import type { HostEviction, HostRecord } from './directory-records.js'
import type { LeaseTimes } from './lease.js'
import { type LeaseClock, type Moment, momentOf } from './moment.js'

/** A host of the fleet, as this host knows it. */
export interface KnownHost {
  readonly record: HostRecord
  /** When it was last heard from, in milliseconds since the epoch. */
  readonly lastSeen: number
  readonly isReachable: boolean
  /** It was stopped, and not lost. */
  readonly hasLeft: boolean
  readonly isSelf: boolean
}

export interface KnownHostsOptions {
  /** The name of this host. */
  readonly self: string
  readonly times: LeaseTimes
  readonly clock: LeaseClock
  /** A host came, changed, was lost, came back or left. */
  readonly onChange: (host: string) => void
  readonly onForgotten: (host: string) => void
}

interface Sighting {
  readonly record: HostRecord | undefined
  readonly revision: number
  readonly received: Moment
  readonly lastSeen: number
  /** Whether its record was there when this host began to listen. */
  readonly isListed: boolean
  /** Whether its heartbeat is there: it neither left nor was evicted. */
  readonly isPresent: boolean
  /** It has removed its heartbeat itself. */
  readonly hasLeft: boolean
  readonly wasReachable: boolean
}

/** A host that was lost is shown for so long. */
const REMEMBERED_MS = 24 * 3_600_000

/** What was last heard of each host, and when. */
export class KnownHosts {
  readonly #options: KnownHostsOptions
  readonly #hosts = new Map<string, Sighting>()
  #silence: Timer | undefined
  #isClosed = false

  constructor(options: KnownHostsOptions) {
    this.#options = options
  }

  /** All of them, by name; also those that were lost in the last day. */
  all(): readonly KnownHost[] {
    return [...this.#hosts.keys()].toSorted().flatMap((host) => this.get(host) ?? [])
  }

  get(host: string): KnownHost | undefined {
    const { record, lastSeen = 0, hasLeft = false } = this.#hosts.get(host) ?? {}
    if (record === undefined) return undefined
    return { record, lastSeen, isReachable: this.isReachable(host), hasLeft, isSelf: host === this.#options.self }
  }

  /** Whether the host was heard from within the lease; always true for this one. */
  isReachable(host: string): boolean {
    const { self, clock, times } = this.#options
    if (host === self) return true
    const known = this.#hosts.get(host)
    return known !== undefined && known.isPresent && clock.now() - known.lastSeen < times.silentMs
  }

  /**
   * Whether what is stored of it now is what this host has heard when it was stored. What was only listed may be older, and stored again
   * by somebody else: a host that was evicted once may have come back since then.
   */
  hasHeard(host: string, { revision, replaced }: Pick<Stored, 'revision' | 'replaced'>): boolean {
    const known = this.#hosts.get(host)
    if (known === undefined || isStoredAgain({ revision, replaced }, known.revision)) return false
    return known.revision < revision || !known.isListed
  }

  /** The last revision of its key. */
  revision(host: string): number {
    return this.#hosts.get(host)?.revision ?? 0
  }

  /** When a revision of its key was received; undefined when another one is the last. */
  received(host: string, revision: number): Moment | undefined {
    const known = this.#hosts.get(host)
    return known?.revision === revision ? known.received : undefined
  }

  seen(host: string, record: HostRecord | HostEviction | undefined, heard: Heard): void {
    const { clock } = this.#options
    const before = this.#hosts.get(host)
    const heartbeat = record !== undefined && 'run' in record ? record : undefined
    // A heartbeat that was only listed can be as old as the server keeps it.
    const seen = heard.isListed ? Math.min(clock.now(), heard.storedAt) : clock.now()
    this.#hosts.set(host, {
      record: heartbeat ?? before?.record,
      revision: heard.revision,
      isListed: heard.isListed,
      received: momentOf(clock),
      lastSeen: heartbeat === undefined ? (before?.lastSeen ?? seen) : seen,
      isPresent: heartbeat !== undefined,
      hasLeft: record === undefined && hasLeft(before, heard),
      wasReachable: heartbeat !== undefined,
    })
    // A heartbeat only puts the next look off.
    if (this.#silence === undefined) this.#look()
    this.#options.onChange(host)
  }

  close(): void {
    this.#isClosed = true
    this.#silence?.cancel()
  }

  /** Reports hosts that fell silent, and plans the next look. Forgets those that were lost long ago. */
  #look(): void {
    const { clock, times } = this.#options
    this.#silence = undefined
    const now = clock.now()
    let nextMs = Number.POSITIVE_INFINITY
    for (const [host, known] of this.#hosts) {
      const isReachable = this.isReachable(host)
      if (isReachable) nextMs = Math.min(nextMs, known.lastSeen + times.silentMs - now)
      else if (now - known.lastSeen > REMEMBERED_MS) this.#forget(host)
      if (isReachable || !known.wasReachable) continue
      this.#hosts.set(host, { ...known, wasReachable: false })
      this.#options.onChange(host)
    }
    if (nextMs === Number.POSITIVE_INFINITY || this.#isClosed) return
    this.#silence = clock.after(Math.max(1, nextMs), () => this.#look())
  }

  #forget(host: string): void {
    this.#hosts.delete(host)
    this.#options.onForgotten(host)
  }
}

/** A heartbeat that is gone was removed by its host, or forgotten by the server: then it has no new revision. */
const hasLeft = (before: Sighting | undefined, { revision }: Heard): boolean =>
  before !== undefined && (before.hasLeft || revision > before.revision)
