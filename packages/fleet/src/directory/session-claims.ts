import { AgentprotoError, type Session } from '@agentproto/contracts'
import type { MovedSettings } from '@agentproto/contracts/agent'
import { ABSENT, type Bucket, isStoredAgain, NEVER_STORED, type Stored } from '../cluster/bucket.js'
import type { BucketCopy } from '../cluster/bucket-copy.js'
import type { ClaimEvents } from './claim-events.js'
import { closed, epochOf } from './claim-outcome.js'
import { ClaimQueue } from './claim-queue.js'
import type { SessionRecord } from './directory-records.js'
import type { HostDirectory } from './host-directory.js'
import { bounded, movable, OwnedSession } from './owned-session.js'
import { parseSession } from './parse-record.js'

export interface SessionClaimsOptions extends ClaimEvents {
  readonly hosts: HostDirectory
  readonly bucket: Bucket
  readonly copy: BucketCopy<SessionRecord>
}

const MAX_ATTEMPTS = 8

/**
 * The sessions of this host. Each is read in each term of the lease before it is written, and its record follows what it
 * does; of several changes in a row the latest is written.
 */
export class SessionClaims {
  /** Whether the lease was lost, and not every session that may move was read again since then. */
  isSuspended = false
  readonly #options: SessionClaimsOptions
  readonly #hosts: HostDirectory
  readonly #own = new Map<string, OwnedSession>()
  readonly #queue: ClaimQueue
  /** Those that may move and were not yet read in this lease. */
  #unsettled: Set<OwnedSession> = new Set()
  #isClosed = false

  constructor(options: SessionClaimsOptions) {
    this.#options = options
    this.#hosts = options.hosts
    this.#queue = new ClaimQueue({
      clock: options.hosts.clock,
      isHeld: () => options.hosts.term !== undefined,
      save: (own) => this.#confirm(own),
      onProblem: options.onProblem,
    })
  }

  /** As `SessionDirectory.keep`. */
  keep(session: Session, settings?: MovedSettings): void {
    if (!this.#isClosed) this.#queue.add(this.#owned(session, settings))
  }

  /** As `SessionDirectory.claim`. */
  async claim(session: Session, settings?: MovedSettings): Promise<number> {
    if (this.#isClosed) throw closed()
    const own = this.#owned(session, settings)
    const outcome = own.confirmed()
    this.#queue.add(own)
    return epochOf(session.id, await outcome)
  }

  /** As `SessionDirectory.epochOf`. */
  epochOf(id: string): number | undefined {
    const own = this.#own.get(id)
    if (own !== undefined) return own.epoch === 0 ? undefined : own.epoch
    const record = this.#options.copy.records.get(id)
    return record?.owner === this.#hosts.host ? record.epoch : undefined
  }

  /** As `SessionDirectory.mayWrite`. */
  mayWrite(id: string): boolean {
    const own = this.#own.get(id)
    return own?.term !== undefined && own.term === this.#hosts.term
  }

  /** As `SessionDirectory.mayRun`. */
  mayRun(id: string): boolean {
    const own = this.#own.get(id)
    const { owner, session } = this.#options.copy.records.get(id) ?? {}
    const mayMove = own?.isMovable === true || (session !== undefined && movable(session))
    if (own !== undefined) return !mayMove || this.mayWrite(id)
    return owner === undefined || owner === this.#hosts.host
  }

  /** As `SessionDirectory.complete`. */
  async complete(id: string, seq: number): Promise<void> {
    const own = this.#own.get(id)
    if (own === undefined) return
    own.complete = seq
    const outcome = own.confirmed()
    this.#queue.add(own)
    epochOf(id, await outcome)
  }

  /** The session is deleted: nothing more is written. */
  drop(id: string): void {
    const own = this.#own.get(id)
    this.#own.delete(id)
    this.#settled(own)
  }

  /** A session that was taken, also one whose write had no answer. @returns its epoch */
  taken(record: SessionRecord, revision: number): number {
    const { session, epoch, term } = record
    const own = this.#own.get(session.id) ?? new OwnedSession(session)
    this.#own.set(session.id, own)
    own.stored(record, revision)
    if (term === this.#hosts.term) own.term = term
    else this.#queue.add(own)
    return epoch
  }

  /** What the copy has of a session. Another owner fences an own one at once; for all else the leader is asked. */
  seen(id: string, record: SessionRecord | undefined, revision = ABSENT): void {
    const { host } = this.#hosts
    const own = this.#own.get(id)
    if (own === undefined) return
    if (record !== undefined && record.owner !== host && record.epoch > own.epoch)
      return void this.#fence(own, record.owner)
    own.seen = Math.max(own.seen, revision)
    const isKnown = record?.owner === host && own.term !== undefined
    if (own.epoch === 0 || (isKnown && (own.isSaving || !own.isBehind))) return
    own.mustRead = true
    this.#queue.add(own)
  }

  /** The lease is held again: nothing is written before it was read. */
  readAgain(): void {
    this.#unsettled = new Set(this.#movable())
    this.#queue.addAll(this.#own.values())
    this.#settled(undefined)
  }

  /** The lease is lost. */
  suspend(): void {
    this.isSuspended = true
    this.#options.onSuspended(this.#movable().map(({ id }) => id))
  }

  close(): void {
    this.#isClosed = true
    this.#queue.close()
    for (const own of this.#own.values()) own.settle({ type: 'closed' })
  }

  #owned(session: Session, settings?: MovedSettings): OwnedSession {
    const own = this.#own.get(session.id) ?? new OwnedSession(session, settings)
    own.change(session, settings)
    this.#own.set(session.id, own)
    return own
  }

  /** Reads the record when it is not known in this lease, and writes it when it should be another one. */
  async #confirm(own: OwnedSession): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { term } = this.#hosts
      // The next lease begins with reading.
      if (term === undefined || this.#own.get(own.id) !== own) return
      if ((own.term !== term || own.mustRead) && !(await this.#readRecord(own))) return
      if (await this.#write(own, term)) return
      own.mustRead = true
    }
    throw new AgentprotoError('cluster_unavailable', `The record of the session ${own.id} changes too often`)
  }

  /** @returns whether the session is this host's, as far as the fleet knows */
  async #readRecord(own: OwnedSession): Promise<boolean> {
    own.seen = ABSENT
    const stored = await this.#known(own)
    if (this.#own.get(own.id) !== own) return false
    own.revision = stored.revision
    own.mustRead = false
    if (stored.isForged === true || isStoredAgain(stored, own.signed)) return own.overwritten()
    // The bucket is empty when its server lost what it had: then the record is written again, with the epoch that it had.
    if (stored.revision === ABSENT) return true
    if (stored.value === undefined) return this.#fence(own, undefined)
    const record = parseSession(own.id, stored.value)
    if (record === undefined) return this.#unreadable(own)
    if (record.owner !== this.#hosts.host) return this.#fence(own, record.owner)
    own.complete ??= record.complete
    own.stored(record, stored.revision)
    return true
  }

  /** Another host may have taken it before someone else wrote over its record: nothing is written until that is put right. */
  #unreadable(own: OwnedSession): false {
    own.term = undefined
    this.#options.onProblem(
      `The record of the session ${own.id} in the fleet is not a record. Its events are not published.`,
    )
    return false
  }

  /** A new session is not in the fleet: its write says if that is wrong. All others are read from the leader. */
  async #known(own: OwnedSession): Promise<Stored> {
    const isNew =
      own.epoch === 0 &&
      !own.mustRead &&
      this.#options.copy.isCurrent &&
      this.#options.copy.records.get(own.id) === undefined
    return isNew ? NEVER_STORED : ((await this.#options.bucket.read(own.id)) ?? NEVER_STORED)
  }

  /** @returns false when the record is another one than was thought */
  async #write(own: OwnedSession, term: string): Promise<boolean> {
    const { host } = this.#hosts
    own.epoch = Math.max(own.epoch, 1)
    // Others take only what was confirmed in a term that has ended: the record of one that may move has the term.
    const mustWrite = !own.isStored(host) || (movable(own.session) && own.term !== term)
    if (mustWrite && !(await this.#put(own, own.record(host, term)))) return false
    if (this.#own.get(own.id) !== own) return true
    own.term = term
    own.settle({ type: 'owned', epoch: own.epoch })
    this.#settled(own)
    if (own.isComplete && own.isStored(host)) this.#own.delete(own.id)
    return true
  }

  async #put(own: OwnedSession, record: SessionRecord): Promise<boolean> {
    const small = bounded(record)
    const revision = await this.#options.bucket.write(own.id, small, own.revision)
    if (revision === undefined) return false
    own.stored(record, revision)
    this.#options.copy.written(own.id, small, revision)
    return true
  }

  #fence(own: OwnedSession, owner: string | undefined): false {
    if (this.#own.get(own.id) !== own) return false
    this.#own.delete(own.id)
    this.#queue.drop(own)
    own.settle({ type: 'fenced', owner })
    this.#options.onFenced(own.id, owner)
    this.#settled(own)
    return false
  }

  /** A session that may move was read again, or is no longer here. */
  #settled(own: OwnedSession | undefined): void {
    if (own !== undefined) this.#unsettled.delete(own)
    if (!this.isSuspended || this.#unsettled.size > 0 || this.#hosts.term === undefined) return
    this.isSuspended = false
    this.#options.onReleased()
  }

  #movable(): readonly OwnedSession[] {
    return [...this.#own.values()].filter(({ isMovable }) => isMovable)
  }
}
