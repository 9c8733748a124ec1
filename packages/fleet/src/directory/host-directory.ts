import { setMaxListeners } from 'node:events'
import { hostname } from 'node:os'
import { AgentprotoError, pause, randomId, type Timer } from '@agentproto/contracts'
import { ABSENT, Bucket, type Stored } from '../cluster/bucket.js'
import { BucketCopy } from '../cluster/bucket-copy.js'
import { type Cluster, clusterError } from '../cluster/cluster.js'
import type { HostDetails, HostEviction, HostRecord } from './directory-records.js'
import type { FleetOptions } from '../fleet-options.js'
import { HostEvictions } from './host-eviction.js'
import { HostLease } from './host-lease.js'
import { type KnownHost, KnownHosts } from './known-hosts.js'
import { leaseOf, type LeaseTimes } from './lease.js'
import { atLeastSince, atMostSince, type LeaseClock, type Moment, momentOf } from './moment.js'
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
  readonly #options: HostDirectoryOptions
  readonly #bucket: Bucket
  readonly #lease: HostLease
  readonly #copy: BucketCopy<HostRecord | HostEviction>
  readonly #run = randomId('r')
  readonly #known: KnownHosts
  readonly #evictions: HostEvictions
  readonly #listeners = new Set<HostListener>()
  #term: string | undefined
  #revision = ABSENT
  #beat: Timer | undefined
  #expiry: Timer | undefined
  #stranger: Sighted | undefined
  #beating: Promise<void> | undefined
  readonly #closing = new AbortController()

  private constructor(cluster: Cluster, bucket: Bucket, options: HostDirectoryOptions) {
    this.#options = options
    this.#bucket = bucket
    this.host = hostName(options)
    this.times = leaseOf(options.leaseMs)
    this.clock = leaseClock(options)
    this.#lease = new HostLease(this.times, this.clock)
    const { times, clock, host } = this
    this.#known = new KnownHosts({ self: host, times, clock, onChange: (changed) => this.#changed(changed) })
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
      onProblem: options.onProblem,
    })
  }

  /**
   * Joins the fleet. A host of this name that was not left in order is waited for until its lease has ended: until
   * then this host is not joined, which `listen` reports later.
   * @throws `host_name_in_use`, `cluster_unavailable`, `cluster_unsupported`, `invalid_request`
   */
  static async join(cluster: Cluster, options: HostDirectoryOptions): Promise<HostDirectory> {
    const { forgottenMs } = leaseOf(options.leaseMs)
    hostName(options)
    const bucket = await Bucket.open(cluster, { name: HOSTS_BUCKET, ttlMs: forgottenMs, onProblem: options.onProblem })
    const directory = new HostDirectory(cluster, bucket, options)
    try {
      await directory.#copy.ready
      await directory.#joinFirst()
      return directory
    } catch (thrown) {
      await directory.close()
      throw clusterError(thrown)
    }
  }

  /** The term of the lease of this host; undefined when it is not held now. Compares the clocks at each question. */
  get term(): string | undefined {
    return this.#lease.term
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
    if (this.#isClosed) return
    this.#closing.abort()
    for (const timer of [this.#beat, this.#expiry]) timer?.cancel()
    await this.#beating
    const wasHeld = this.#term !== undefined
    this.#lose()
    this.#copy.close()
    this.#known.close()
    try {
      if (wasHeld) await this.#bucket.remove(this.host, this.#revision)
    } catch {
      // NATS is away: the others see it as lost.
    }
  }

  /** Another gateway with this name shows itself by its next heartbeat. */
  async #joinFirst(): Promise<void> {
    await this.#tick()
    const until = momentOf(this.clock)
    while (!this.#isClosed && this.#term === undefined && atMostSince(until, this.clock) < this.times.silentMs) {
      if (this.#stranger?.isAlive === true) throw this.#nameInUse(this.#stranger)
      await pause(this.clock, Math.ceil(this.times.heartbeatMs / 4), this.#closing.signal)
      if (this.#beating === undefined) await this.#tick()
    }
  }

  #nameInUse({ record }: Sighted): AgentprotoError {
    return new AgentprotoError('host_name_in_use', `Another gateway of the fleet has the host name ${this.host}`, {
      expected: 'one gateway for each host name',
      given: `version ${record.version}`,
      hint: 'Start this one with another --host-name.',
    })
  }

  /** One heartbeat, and the next one planned. */
  #tick(): Promise<void> {
    this.#beat?.cancel()
    this.#beating = this.#renew()
      .catch((thrown: unknown) => this.#uncertain(thrown))
      .finally(() => {
        this.#beating = undefined
        if (!this.#isClosed) this.#beat = this.clock.after(this.#nextMs(), () => void this.#tick())
      })
    return this.#beating
  }

  /** Sooner while it has no lease, and after a heartbeat that may be lost. */
  #nextMs(): number {
    return this.#isCertain && this.#term !== undefined ? this.times.heartbeatMs : Math.ceil(this.times.heartbeatMs / 4)
  }

  #isCertain = true
  /** Whether the last that was read of this host is not of a gateway. */
  #isForged = false

  async #renew(): Promise<void> {
    // What a process that was frozen sees first.
    if (this.#term !== undefined && this.#lease.term === undefined) this.#lose()
    if (!this.#isCertain || this.#term === undefined) await this.#readOwn()
    const term = this.#term ?? (this.#stranger === undefined ? randomId('t') : undefined)
    if (term !== undefined) await this.#write(term)
  }

  async #write(term: string): Promise<void> {
    const held = this.#term
    const sent = momentOf(this.clock)
    const record: HostRecord = { ...this.#options.describe(), host: this.host, run: this.#run, term }
    const revision = await this.#bucket.write(this.host, record, this.#revision)
    if (revision === undefined) return this.#overtaken(term, held)
    this.#revision = revision
    this.#copy.written(this.host, record, revision)
    // A lease that ended in the meantime is not given back by a late answer.
    if (this.#term === held) this.#held(term, sent)
    else this.#isCertain = false
  }

  /** Someone else wrote it. What no gateway has written is written over, while the lease lasts. */
  async #overtaken(term: string, held: string | undefined): Promise<void> {
    await this.#readOwn()
    if (held !== undefined && this.#term === term && this.#isForged && !this.#isClosed) await this.#write(term)
  }

  #held(term: string, sent: Moment): void {
    if (this.#isClosed) return
    const isNew = this.#term !== term
    this.#term = term
    this.#lease.renew(term, sent)
    this.#expiry?.cancel()
    this.#expiry = this.clock.after(this.#lease.leftMs, () => this.#expired())
    if (isNew && this.#lease.term === term) for (const listener of this.#listeners) listener.joined?.(term)
  }

  #expired(): void {
    if (this.#lease.term === undefined) this.#lose()
    else this.#expiry = this.clock.after(this.#lease.leftMs, () => this.#expired())
  }

  #lose(): void {
    this.#lease.drop()
    this.#isCertain = false
    this.#expiry?.cancel()
    if (this.#term === undefined) return
    this.#term = undefined
    for (const listener of this.#listeners) listener.lost?.()
  }

  #changed(host: string): void {
    for (const listener of this.#listeners) listener.changed?.(host)
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  /** What the fleet has of this host: its own heartbeat, none, or one of another gateway. */
  async #readOwn(): Promise<void> {
    const stored = await this.#bucket.read(this.host)
    this.#revision = stored?.revision ?? ABSENT
    this.#isForged = stored?.isForged === true
    const record = heartbeatIn(this.host, stored)
    const isOwn = record?.run === this.#run
    if (record === undefined || isOwn) this.#stranger = undefined
    else this.#meet(record, this.#revision)
    // While the lease lasts no host may evict this one, so that nothing that matters was written over.
    const isHeld = this.#isForged ? this.#lease.term === this.#term : isOwn && record.term === this.#term
    if (this.#term !== undefined && !isHeld) this.#lose()
    this.#isCertain = true
  }

  /** Another gateway with this name is alive when it sends a second heartbeat; it is gone when none came for long enough. */
  #meet(record: HostRecord, revision: number): void {
    const before = this.#stranger
    if (before?.revision === revision) {
      if (atLeastSince(before.received, this.clock) >= this.times.abandonedMs) this.#stranger = undefined
      return
    }
    const isAlive = before !== undefined && before.record.run === record.run
    this.#stranger = { record, revision, received: momentOf(this.clock), isAlive }
    if (isAlive && !before.isAlive) this.#options.onProblem(this.#nameInUse(this.#stranger).message)
  }

  #uncertain(thrown: unknown): void {
    if (this.#isCertain) this.#options.onProblem(`A heartbeat was not stored: ${clusterError(thrown).message}`)
    this.#isCertain = false
  }
}

function heartbeatIn(host: string, stored: Stored | undefined): HostRecord | undefined {
  const record = stored?.value === undefined ? undefined : parseHost(host, stored.value)
  return record !== undefined && 'run' in record ? record : undefined
}

/** Another gateway with the name of this host. */
interface Sighted {
  readonly record: HostRecord
  readonly revision: number
  readonly received: Moment
  readonly isAlive: boolean
}

const HOST_NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** @throws `invalid_request` */
function hostName({ host }: Pick<FleetOptions, 'host'>): string {
  const name = host ?? hostname().split('.')[0]?.toLowerCase() ?? ''
  if (HOST_NAME.test(name)) return name
  throw new AgentprotoError('invalid_request', 'The host name cannot be used in a fleet', {
    expected: '1 to 63 of a-z, 0-9 and -, without - at an end',
    given: name,
    hint: 'Give another one with --host-name.',
  })
}

function leaseClock({ clock, monotonic = () => performance.now() }: FleetOptions): LeaseClock {
  return { now: () => clock.now(), after: (ms, run) => clock.after(ms, run), monotonic }
}
