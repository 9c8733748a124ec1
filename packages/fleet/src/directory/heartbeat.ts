import { AgentprotoError, pause, randomId, type Timer } from '@agentproto/contracts'
import { ABSENT, type Bucket, type Stored } from '../cluster/bucket.js'
import type { BucketCopy } from '../cluster/bucket-copy.js'
import { clusterError } from '../cluster/cluster.js'
import type { HostDetails, HostEviction, HostRecord } from './directory-records.js'
import type { FleetRuns } from '../fleet-options.js'
import { HostLease } from './host-lease.js'
import type { LeaseTimes } from './lease.js'
import { atLeastSince, atMostSince, type LeaseClock, type Moment, momentOf } from './moment.js'
import { parseHost } from './parse-record.js'

export interface HeartbeatOptions {
  /** The name of this host. */
  readonly host: string
  readonly times: LeaseTimes
  readonly clock: LeaseClock
  readonly bucket: Bucket
  readonly copy: Pick<BucketCopy<HostRecord | HostEviction>, 'written'>
  /** Asked before each heartbeat. */
  readonly describe: () => HostDetails
  readonly runs?: FleetRuns
  /** The lease is held, in a new term. */
  readonly onHeld: (term: string) => void
  /** The lease is held for longer than before. */
  readonly onRenewed: () => void
  readonly onLost: () => void
  readonly onProblem: (problem: string) => void
}

/** Another gateway with the name of this host. */
interface Sighted {
  readonly record: HostRecord
  readonly revision: number
  readonly received: Moment
  readonly isAlive: boolean
}

/** The heartbeat of this host, which has its lease as long as the heartbeat is stored in time. */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #host: string
  readonly #times: LeaseTimes
  readonly #clock: LeaseClock
  readonly #bucket: Bucket
  readonly #lease: HostLease
  readonly #run: string
  readonly #closing = new AbortController()
  #term: string | undefined
  #revision = ABSENT
  #beat: Timer | undefined
  #expiry: Timer | undefined
  #stranger: Sighted | undefined
  #beating: Promise<void> | undefined
  #isCertain = true
  /** Whether the last that was read of this host is not of a gateway. */
  #isForged = false
  /** Whether the lease was held when it was stopped. */
  #isStored = false

  constructor(options: HeartbeatOptions) {
    this.#options = options
    this.#host = options.host
    this.#run = options.runs?.own ?? randomId('r')
    this.#times = options.times
    this.#clock = options.clock
    this.#bucket = options.bucket
    this.#lease = new HostLease(options.times, options.clock)
  }

  /** The term of the lease; undefined when it is not held now. Compares the clocks at each question. */
  get term(): string | undefined {
    return this.#lease.term
  }

  /** How much of the lease is left, in milliseconds. */
  get leftMs(): number {
    return this.#lease.leftMs
  }

  /** Sends the first heartbeat. Another gateway with this name shows itself by its next one. @throws `host_name_in_use` */
  async start(): Promise<void> {
    await this.#tick()
    const until = momentOf(this.#clock)
    while (!this.#isClosed && this.#term === undefined && atMostSince(until, this.#clock) < this.#times.silentMs) {
      if (this.#stranger?.isAlive === true) throw this.#nameInUse(this.#stranger)
      await pause(this.#clock, Math.ceil(this.#times.heartbeatMs / 4), this.#closing.signal)
      if (this.#beating === undefined) await this.#tick()
    }
  }

  /** No heartbeat follows, and the lease is dropped. */
  async stop(): Promise<void> {
    this.#closing.abort()
    for (const timer of [this.#beat, this.#expiry]) timer?.cancel()
    await this.#beating
    this.#isStored = this.#term !== undefined
    this.#lose()
  }

  /** Once it is stopped: removed, so that no one need wait for its lease. */
  async remove(): Promise<void> {
    try {
      if (this.#isStored) await this.#bucket.remove(this.#host, this.#revision)
    } catch {
      // NATS is away: the others see it as lost.
    }
  }

  #nameInUse({ record }: Sighted): AgentprotoError {
    return new AgentprotoError('host_name_in_use', `Another gateway of the fleet has the host name ${this.#host}`, {
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
        if (!this.#isClosed) this.#beat = this.#clock.after(this.#nextMs(), () => void this.#tick())
      })
    return this.#beating
  }

  /** Sooner while it has no lease, and after a heartbeat that may be lost. */
  #nextMs(): number {
    return this.#isCertain && this.#term !== undefined
      ? this.#times.heartbeatMs
      : Math.ceil(this.#times.heartbeatMs / 4)
  }

  async #renew(): Promise<void> {
    // What a process that was frozen sees first.
    if (this.#term !== undefined && this.#lease.term === undefined) this.#lose()
    if (!this.#isCertain || this.#term === undefined) await this.#readOwn()
    const term = this.#term ?? (this.#stranger === undefined ? randomId('t') : undefined)
    if (term !== undefined) await this.#write(term)
  }

  async #write(term: string): Promise<void> {
    const held = this.#term
    const sent = momentOf(this.#clock)
    const record: HostRecord = {
      ...this.#options.describe(),
      host: this.#host,
      run: this.#run,
      term,
      sentAt: sent.wall,
    }
    const revision = await this.#bucket.write(this.#host, record, this.#revision)
    if (revision === undefined) return this.#overtaken(term, held)
    this.#revision = revision
    this.#options.copy.written(this.#host, record, revision)
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
    this.#expiry = this.#clock.after(this.#lease.leftMs, () => this.#expired())
    if (this.#lease.term !== term) return
    if (isNew) this.#options.onHeld(term)
    this.#options.onRenewed()
  }

  #expired(): void {
    if (this.#lease.term === undefined) this.#lose()
    else this.#expiry = this.#clock.after(this.#lease.leftMs, () => this.#expired())
  }

  #lose(): void {
    this.#lease.drop()
    this.#isCertain = false
    this.#expiry?.cancel()
    if (this.#term === undefined) return
    this.#term = undefined
    this.#options.onLost()
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  /** What the fleet has of this host: its own heartbeat, none, or one of another gateway. */
  async #readOwn(): Promise<void> {
    const stored = await this.#bucket.read(this.#host)
    this.#revision = stored?.revision ?? ABSENT
    this.#isForged = stored?.isForged === true
    const record = heartbeatIn(this.#host, stored)
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
    // Also one more heartbeat of it, which was on its way when it ended.
    if (this.#options.runs?.hasEnded(record.run) === true) return void (this.#stranger = undefined)
    const before = this.#stranger
    if (before?.revision === revision) {
      if (atLeastSince(before.received, this.#clock) >= this.#times.abandonedMs) this.#stranger = undefined
      return
    }
    const isAlive = before !== undefined && before.record.run === record.run
    this.#stranger = { record, revision, received: momentOf(this.#clock), isAlive }
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
