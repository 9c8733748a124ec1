import { setMaxListeners } from 'node:events'
import { defined } from '@agentproto/contracts'
import { Bucket } from '../cluster/bucket.js'
import { BucketCopy } from '../cluster/bucket-copy.js'
import { type Cluster, clusterError } from '../cluster/cluster.js'
import type { HostDetails, HostEviction, HostRecord } from './directory-records.js'
import type { FleetOptions } from '../fleet-options.js'
import { Heartbeat } from './heartbeat.js'
import { HostClocks } from './host-clocks.js'
import { HostEvictions } from './host-eviction.js'
import { hostName } from './host-name.js'
import { type KnownHost, KnownHosts } from './known-hosts.js'
import { leaseOf, type LeaseTimes } from './lease.js'
import type { LeaseClock } from './moment.js'
import { parseHost } from './parse-record.js'
import { HOSTS_BUCKET } from '../subjects.js'

export interface HostDirectoryOptions extends FleetOptions {
  /** Asked before each heartbeat. */
  readonly describe: () => HostDetails
}

/** What others want to know of the hosts. Called in the order of what happens; an error in one is not caught. */
export interface HostListener {
  /** The lease is held, in a new term: what was believed before must be read again. */
  joined?(term: string): void
  /** The lease is held for longer than before. */
  renewed?(): void
  /** The lease is lost: another host may act for this one soon. */
  lost?(): void
  /** A host came, changed, was lost, came back or left. */
  changed?(host: string): void
}

/** More hosts than NATS has been measured with here. */
const MAX_HOSTS = 5_000
/**
 * The hosts of the fleet: this one, which sends heartbeats and has a lease, and a watched copy of all.
 * docs/decisions/fleet.md says why two hosts never have the same session.
 */
export class HostDirectory {
  /** The name of this host. */
  readonly host: string
  readonly times: LeaseTimes
  readonly clock: LeaseClock
  readonly clocks: HostClocks
  readonly #heartbeat: Heartbeat
  readonly #copy: BucketCopy<HostRecord | HostEviction>
  readonly #known: KnownHosts
  readonly #evictions: HostEvictions
  readonly #listeners = new Set<HostListener>()
  readonly #closing = new AbortController()

  private constructor(cluster: Cluster, bucket: Bucket, options: HostDirectoryOptions) {
    this.host = hostName(options)
    this.times = leaseOf(options.leaseMs)
    this.clock = leaseClock(options)
    const { times, clock, host } = this
    this.#known = new KnownHosts({
      self: host,
      times,
      clock,
      onChange: (changed) => this.#notify((listener) => listener.changed?.(changed)),
      onForgotten: (forgotten) => this.clocks.forget(forgotten),
    })
    this.clocks = new HostClocks(host, options.onProblem)
    this.#evictions = new HostEvictions({ by: host, bucket, known: this.#known, times, clock })
    // One for each session that is being taken.
    setMaxListeners(0, this.#closing.signal)
    this.#copy = new BucketCopy({
      nats: cluster.nats,
      bucket,
      clock: options.clock,
      idleMs: this.times.heartbeatMs,
      maxKeys: MAX_HOSTS,
      parse: parseHost,
      onChange: (changed, record, heard) => this.#known.seen(changed, record, heard),
      onStored: (name, record, { storedAt }) => {
        if ('run' in record && record.sentAt !== undefined) this.clocks.heard(name, record.sentAt, storedAt)
      },
      onProblem: options.onProblem,
    })
    this.#heartbeat = new Heartbeat({
      host,
      times,
      clock,
      bucket,
      copy: this.#copy,
      describe: options.describe,
      onHeld: (term) => this.#notify((listener) => listener.joined?.(term)),
      onRenewed: () => this.#notify((listener) => listener.renewed?.()),
      onLost: () => this.#notify((listener) => listener.lost?.()),
      onProblem: options.onProblem,
      ...defined({ runs: options.runs }),
    })
  }

  /**
   * Joins the fleet. A host of this name that was not left in order is waited for until its lease has ended, unless its run
   * has surely ended: until then this host is not joined, which `listen` reports later.
   * @throws `host_name_in_use`, `cluster_unavailable`, `cluster_unsupported`, `invalid_request`
   */
  static async join(cluster: Cluster, options: HostDirectoryOptions): Promise<HostDirectory> {
    const { forgottenMs } = leaseOf(options.leaseMs)
    hostName(options)
    const bucket = await Bucket.open(cluster, { name: HOSTS_BUCKET, ttlMs: forgottenMs, onProblem: options.onProblem })
    const directory = new HostDirectory(cluster, bucket, options)
    try {
      await directory.#copy.ready
      await directory.#heartbeat.start()
      return directory
    } catch (thrown) {
      await directory.close()
      throw clusterError(thrown)
    }
  }

  /** The term of the lease of this host; undefined when it is not held now. Compares the clocks at each question. */
  get term(): string | undefined {
    return this.#heartbeat.term
  }

  /** How much of the lease of this host is left, in milliseconds. */
  get leftMs(): number {
    return this.#heartbeat.leftMs
  }

  /** All hosts that are known, by name; also those that were lost in the last day. */
  hosts(): readonly KnownHost[] {
    return this.#known.all()
  }

  get(host: string): KnownHost | undefined {
    return this.#known.get(host)
  }

  /** Whether the host was heard from within the lease; always true for this one. */
  isReachable(host: string): boolean {
    return this.#known.isReachable(host)
  }

  /** Whether this host is the first reachable one by name: it does what one host of the fleet must do. */
  get isFirst(): boolean {
    return this.term !== undefined && this.hosts().find(({ isReachable }) => isReachable)?.isSelf === true
  }

  /** @returns a function that ends it */
  listen(listener: HostListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /**
   * Ends the term of a host that is not heard from, so that what it believed to own can be taken. Resolves when it cannot
   * believe any more that it has its lease: true, or false when it is alive or came back.
   * @throws an error of NATS: nothing is known then
   */
  evict(host: string, signal: AbortSignal = this.#closing.signal): Promise<boolean> {
    return this.#evictions.evict(host, signal)
  }

  /** Leaves the fleet: the lease is dropped first, so that no one need wait for it. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    await this.#heartbeat.stop()
    this.#copy.close()
    this.#known.close()
    await this.#heartbeat.remove()
  }

  #notify(what: (listener: HostListener) => void): void {
    for (const listener of this.#listeners) what(listener)
  }
}

function leaseClock({ clock, monotonic = () => performance.now() }: FleetOptions): LeaseClock {
  return { now: () => clock.now(), after: (ms, run) => clock.after(ms, run), monotonic }
}
