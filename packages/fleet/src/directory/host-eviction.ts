import { pause } from '@agentproto/contracts'
import { ABSENT, type Bucket, type Stored } from '../cluster/bucket.js'
import type { HostEviction } from './directory-records.js'
import type { KnownHosts } from './known-hosts.js'
import type { LeaseTimes } from './lease.js'
import { atLeastSince, type LeaseClock, momentOf } from './moment.js'
import { parseHost } from './parse-record.js'

export interface EvictionOptions {
  /** The name of this host. */
  readonly by: string
  readonly bucket: Bucket
  readonly known: KnownHosts
  readonly times: LeaseTimes
  readonly clock: LeaseClock
}

type Outcome = 'evicted' | 'alive' | 'raced'

/** As often several hosts may be faster. */
const MAX_ATTEMPTS = 20

/**
 * Ends the term of a host that is not heard from. The compare-and-set of its key succeeds only when no heartbeat came after
 * the one that was waited for: nothing depends on a copy that may be late, or on the clock of a server.
 */
export class HostEvictions {
  readonly #options: EvictionOptions

  constructor(options: EvictionOptions) {
    this.#options = options
  }

  /** As `HostDirectory.evict`. */
  async evict(host: string, signal: AbortSignal): Promise<boolean> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const outcome = await this.#attempt(host, signal)
      if (outcome !== 'raced') return outcome === 'evicted'
      // Hosts that take sessions of one host at the same time write its key one after the other.
      await pause(this.#options.clock, 10 * Math.random(), signal)
    }
    return false
  }

  async #attempt(host: string, signal: AbortSignal): Promise<Outcome> {
    const { bucket, known } = this.#options
    const stored = await bucket.read(host)
    if (known.isReachable(host) || signal.aborted) return 'alive'
    if (stored !== undefined && hasLapsed(host, stored) && known.hasHeard(host, stored))
      return this.#write(host, stored.revision)
    const from = await this.#blocked(host, stored)
    if (from === undefined) return 'raced'
    return (await this.#abandoned(host, from, signal)) ?? this.#write(host, from)
  }

  /** A key that is gone does not say when its last heartbeat was: it is made first, so that none can follow. */
  async #blocked(host: string, stored: Stored | undefined): Promise<number | undefined> {
    if (stored?.value !== undefined) return stored.revision
    return this.#options.bucket.write(host, this.#eviction(host, false), stored?.revision ?? ABSENT)
  }

  async #write(host: string, expected: number): Promise<Outcome> {
    const written = await this.#options.bucket.write(host, this.#eviction(host, true), expected)
    return written === undefined ? 'raced' : 'evicted'
  }

  #eviction(host: string, lapsed: boolean): HostEviction {
    return { host, evictedBy: this.#options.by, lapsed }
  }

  /** Waits until a key has had its revision for as long as its writer could believe in it; else says why not. */
  async #abandoned(host: string, revision: number, signal: AbortSignal): Promise<Outcome | undefined> {
    const { known, clock, times } = this.#options
    const since = known.received(host, revision) ?? momentOf(clock)
    for (;;) {
      const leftMs = times.abandonedMs - atLeastSince(since, clock)
      if (leftMs <= 0) return undefined
      await pause(clock, Math.min(leftMs, times.heartbeatMs), signal)
      if (signal.aborted || known.isReachable(host)) return 'alive'
      if (known.revision(host) > revision) return 'raced'
    }
  }
}

/** Whether the host was evicted, and could not believe any more that it has its lease when that was written. */
function hasLapsed(host: string, { value }: Stored): boolean {
  const record = value === undefined ? undefined : parseHost(host, value)
  return record !== undefined && 'evictedBy' in record && record.lapsed
}
