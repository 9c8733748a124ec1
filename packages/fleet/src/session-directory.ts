import { setMaxListeners } from 'node:events'
import { AgentprotoError, type Clock, type Session, type Timer } from '@agentproto/contracts'
import type { MovedSettings } from '@agentproto/contracts/agent'
import type { Reader } from '@agentproto/contracts/wire'
import { Backoff } from './backoff.js'
import { ABSENT, Bucket, type Stored } from './bucket.js'
import { BucketCopy } from './bucket-copy.js'
import { type Cluster, clusterError } from './cluster.js'
import type { SessionRecord } from './directory-records.js'
import type { HostDirectory } from './host-directory.js'
import { type Confirmation, movable, OwnedSession } from './owned-session.js'
import { MAX_RECORD_BYTES, parseSession } from './parse-record.js'
import { RecordFeed } from './record-feed.js'
import { SESSIONS_BUCKET } from './subjects.js'

export interface SessionDirectoryOptions {
  readonly cluster: Cluster
  readonly hosts: HostDirectory
  readonly onProblem: (problem: string) => void
  /**
   * A session of this host is another host's now, or was deleted in the fleet when `owner` is absent. Its agent must end,
   * and nothing more of it may be written.
   */
  readonly onFenced: (id: string, owner: string | undefined) => void
  /**
   * The lease of this host is lost. These sessions may be taken by other hosts soon: their agents must end before, within
   * `LeaseTimes.abandonedMs` less `LeaseTimes.heldMs`.
   */
  readonly onSuspended: (ids: readonly string[]) => void
  /** The lease is back, and every session that may move was read again: it is this host's own, or was fenced. */
  readonly onReleased: () => void
}

/** Of 2 kB each: what a gateway can keep. */
const MAX_SESSIONS = 200_000
/** Records that are written at the same time. */
const MAX_WRITES = 16
/** The record of a session is written at most this often, in milliseconds. */
const WRITE_MS = 200
const IDLE_MS = 5_000

/**
 * The sessions of the fleet: records in a bucket that are only changed by compare-and-set, a watched copy of them, and the
 * claims of this host.
 */
export class SessionDirectory {
  readonly #options: SessionDirectoryOptions
  readonly #hosts: HostDirectory
  readonly #clock: Clock
  readonly #bucket: Bucket
  readonly #copy: BucketCopy<SessionRecord>
  readonly #feed = new RecordFeed()
  readonly #own = new Map<string, OwnedSession>()
  readonly #byOwner = new Map<string, Set<string>>()
  readonly #owners = new Map<string, string>()
  readonly #queue = new Set<OwnedSession>()
  readonly #backoff: Backoff
  readonly #stopListening: () => void
  readonly #closing = new AbortController()
  /** Hosts that were reachable when their sessions were last reported. */
  readonly #shown = new Set<string>()
  readonly #timers = new Set<Timer>()
  /** Own sessions that may move and were not yet read in this lease. */
  #unsettled: Set<OwnedSession> = new Set()
  #isSuspended = false
  #writes = 0
  #isPaused = false
  #isClosed = false

  private constructor(bucket: Bucket, options: SessionDirectoryOptions) {
    const { cluster, hosts, onProblem } = options
    this.#options = options
    this.#hosts = hosts
    // One for each session that is being taken.
    setMaxListeners(0, this.#closing.signal)
    this.#clock = hosts.clock
    this.#bucket = bucket
    this.#backoff = new Backoff(hosts.clock)
    this.#copy = new BucketCopy({
      nats: cluster.nats,
      bucket,
      clock: hosts.clock,
      idleMs: IDLE_MS,
      maxKeys: MAX_SESSIONS,
      parse: parseSession,
      onChange: (id, record) => this.#seen(id, record),
      onProblem,
    })
    for (const { record, isReachable } of hosts.hosts()) if (isReachable) this.#shown.add(record.host)
    this.#stopListening = hosts.listen({
      joined: () => this.#readAgain(),
      lost: () => this.#suspend(),
      changed: (host) => this.#hostChanged(host),
    })
  }

  /** Resolves when the copy has all sessions. @throws `cluster_unavailable`, `cluster_unsupported` */
  static async open(options: SessionDirectoryOptions): Promise<SessionDirectory> {
    const { cluster, onProblem } = options
    const bucket = await Bucket.open(cluster, { name: SESSIONS_BUCKET, onProblem })
    const directory = new SessionDirectory(bucket, options)
    await directory.#copy.ready
    return directory
  }

  /** A session of any host, from the copy. */
  get(id: string): SessionRecord | undefined {
    return this.#copy.records.get(id)
  }

  /** All sessions of the fleet, from the copy, in no order. */
  all(): Iterable<SessionRecord> {
    return this.#copy.records.values()
  }

  /** Names of all hosts that have a session, from the copy; also of hosts that are gone. */
  owners(): Iterable<string> {
    return this.#byOwner.keys()
  }

  /** Ids of the sessions of a host, from the copy. */
  ownedBy(host: string): ReadonlySet<string> {
    return this.#byOwner.get(host) ?? NONE
  }

  /** Whether the host of a session is heard from; false for an unknown session. */
  isReachable(id: string): boolean {
    const owner = this.get(id)?.owner
    return owner !== undefined && this.#hosts.isReachable(owner)
  }

  /** Whether the copy has every change, as far as is known: false while NATS is away. */
  get isCurrent(): boolean {
    return this.#copy.isCurrent
  }

  /** Ids of sessions that changed, or whose host was lost or came back. */
  changes(): Reader<readonly string[]> {
    return this.#feed.read()
  }

  /**
   * Keeps the record of an own session as the given one. A new session is claimed; without a lease it is written when there
   * is one again. Returns at once; the latest of several in a row is written.
   */
  keep(session: Session, settings?: MovedSettings): void {
    if (this.#isClosed) return
    this.#enqueue(this.#owned(session, settings))
  }

  /**
   * Claims an own session, and waits for it as long as NATS is away.
   * @returns its epoch
   * @throws `session_live` with `host` when another host has it, `session_not_found` when it was deleted, `shutting_down`
   */
  async claim(session: Session, settings?: MovedSettings): Promise<number> {
    if (this.#isClosed) throw closed()
    const own = this.#owned(session, settings)
    const outcome = own.confirmed()
    this.#enqueue(own)
    return epochOf(session.id, await outcome)
  }

  /** The epoch of an own session; undefined while it is not known, or when it is another host's. */
  epochOf(id: string): number | undefined {
    const own = this.#own.get(id)
    if (own !== undefined) return own.epoch === 0 ? undefined : own.epoch
    const record = this.get(id)
    return record?.owner === this.#hosts.host ? record.epoch : undefined
  }

  /**
   * Whether this host may publish events of a session now: it has its lease, and in this lease has read that the
   * session is its own. Ask before each message.
   */
  mayWrite(id: string): boolean {
    const own = this.#own.get(id)
    return own?.term !== undefined && own.term === this.#hosts.term
  }

  /**
   * Whether this host may run the agent of a session now. One that waits for its host always may, until it is fenced. One
   * that may move only with the lease. Ask before each turn.
   */
  mayRun(id: string): boolean {
    const own = this.#own.get(id)
    const { owner, session } = this.get(id) ?? {}
    const mayMove = own?.isMovable === true || (session !== undefined && movable(session))
    if (own !== undefined) return !mayMove || this.mayWrite(id)
    return owner === undefined || owner === this.#hosts.host
  }

  /**
   * Takes a session whose host is lost, when its policy is `move`. It waits until the other host cannot believe any more
   * that the session is its own. Of several hosts that try, one gets it.
   * @returns its new epoch
   * @throws `session_not_found`, `session_live` when it may not be taken, its host is back or another one was faster,
   * `cluster_unavailable` without a lease
   */
  async takeOver(id: string): Promise<number> {
    // Read before the eviction: a record of a later term of its owner has another revision.
    const stored = await this.#read(id)
    const record = stored.value === undefined ? undefined : parseSession(id, stored.value)
    if (record === undefined) throw new AgentprotoError('session_not_found', `The fleet has no session ${id}`)
    const { owner } = record
    if (owner === this.#hosts.host) return this.#taken(record, stored.revision)
    if (!movable(record.session)) throw notTaken(id, `it waits for its host ${owner}`, owner)
    if (this.#hosts.isReachable(owner)) throw notTaken(id, `its host ${owner} is reachable`, owner)
    const isEvicted = await this.#tried(() => this.#hosts.evict(owner, this.#closing.signal))
    if (!isEvicted) throw notTaken(id, `its host ${owner} is back, or another host is faster`, owner)
    return this.#take(record, stored.revision)
  }

  /**
   * The whole log of an ended session is in the fleet's log. Resolves when that is written.
   * @param seq number of its last event
   * @throws as `claim`
   */
  async complete(id: string, seq: number): Promise<void> {
    const own = this.#own.get(id)
    if (own === undefined) return
    own.complete = seq
    const outcome = own.confirmed()
    this.#enqueue(own)
    epochOf(id, await outcome)
  }

  /** An own session was deleted. @throws `session_live` when another host has it, `cluster_unavailable` */
  async forget(id: string): Promise<void> {
    const own = this.#own.get(id)
    this.#own.delete(id)
    this.#settled(own)
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { value, revision } = await this.#read(id)
      if (value === undefined) return
      const owner = parseSession(id, value)?.owner
      if (owner !== this.#hosts.host) throw notTaken(id, `it is the session of ${owner ?? 'an unknown host'}`, owner)
      const removed = await this.#tried(() => this.#bucket.remove(id, revision))
      if (removed !== undefined) return this.#copy.written(id, undefined, removed)
    }
    throw new AgentprotoError('cluster_unavailable', `The record of the session ${id} changes too often to be removed`)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#closing.abort()
    this.#stopListening()
    this.#copy.close()
    this.#feed.close()
    this.#queue.clear()
    for (const timer of this.#timers) timer.cancel()
    for (const own of this.#own.values()) own.settle({ type: 'closed' })
  }

  #owned(session: Session, settings?: MovedSettings): OwnedSession {
    const known = this.#own.get(session.id)
    known?.change(session, settings)
    if (known !== undefined) return known
    const own = new OwnedSession(session, settings)
    this.#own.set(session.id, own)
    return own
  }

  #enqueue(own: OwnedSession): void {
    this.#queue.add(own)
    this.#work()
  }

  #work(): void {
    for (const own of this.#queue) {
      if (this.#isClosed || this.#isPaused || this.#writes >= MAX_WRITES || this.#hosts.term === undefined) return
      if (own.isSaving) continue
      this.#queue.delete(own)
      void this.#save(own)
    }
  }

  /** One session is written by one call at a time. */
  async #save(own: OwnedSession): Promise<void> {
    own.isSaving = true
    this.#writes += 1
    try {
      await this.#confirm(own)
      this.#backoff.reset()
    } catch (thrown) {
      own.mustRead = true
      this.#pause(thrown)
      this.#queue.add(own)
    }
    this.#writes -= 1
    // A session that changes all the time is written some times a second.
    this.#later(WRITE_MS, () => {
      own.isSaving = false
      if (this.#queue.has(own)) this.#work()
    })
    this.#work()
  }

  #pause(thrown: unknown): void {
    if (this.#isClosed || this.#isPaused) return
    this.#isPaused = true
    if (this.#hosts.term !== undefined)
      this.#options.onProblem(`The record of a session was not written: ${clusterError(thrown).message}`)
    void this.#backoff.wait(this.#closing.signal).then(() => {
      this.#isPaused = false
      this.#work()
    })
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
    const stored = await this.#known(own)
    if (this.#own.get(own.id) !== own) return false
    own.revision = stored.revision
    own.mustRead = false
    // The bucket is empty when its server lost what it had: then the record is written again, with the epoch that it had.
    if (stored.revision === ABSENT) return true
    if (stored.value === undefined) return this.#fence(own, undefined)
    const record = parseSession(own.id, stored.value)
    if (record === undefined)
      throw new AgentprotoError('cluster_unavailable', `The record of ${own.id} is not a record`)
    if (record.owner !== this.#hosts.host) return this.#fence(own, record.owner)
    own.complete ??= record.complete
    own.stored(record, stored.revision)
    return true
  }

  /** A new session is not in the fleet: its write says if that is wrong. All others are read from the leader. */
  async #known(own: OwnedSession): Promise<Stored> {
    const isNew = own.epoch === 0 && !own.mustRead && this.#copy.isCurrent && this.get(own.id) === undefined
    return isNew ? { revision: ABSENT } : await this.#read(own.id)
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
    const revision = await this.#bucket.write(own.id, small, own.revision)
    if (revision === undefined) return false
    own.stored(record, revision)
    this.#copy.written(own.id, small, revision)
    return true
  }

  #fence(own: OwnedSession, owner: string | undefined): false {
    if (this.#own.get(own.id) !== own) return false
    this.#own.delete(own.id)
    this.#queue.delete(own)
    own.settle({ type: 'fenced', owner })
    this.#options.onFenced(own.id, owner)
    this.#settled(own)
    return false
  }

  async #take(record: SessionRecord, revision: number): Promise<number> {
    const { session, owner } = record
    const { term, host } = this.#hosts
    if (term === undefined) throw new AgentprotoError('cluster_unavailable', 'This host has no lease')
    const epoch = record.epoch + 1
    const taken: SessionRecord = {
      ...record,
      owner: host,
      epoch,
      term,
      session: { ...session, hostId: host, movedFrom: owner },
    }
    const written = await this.#tried(() => this.#bucket.write(session.id, taken, revision))
    if (written === undefined) throw notTaken(session.id, 'another host was faster', owner)
    this.#copy.written(session.id, taken, written)
    return this.#taken(taken, written)
  }

  /** Also for a record of this host whose write had no answer. */
  #taken(record: SessionRecord, revision: number): number {
    const { session, epoch, term } = record
    const own = this.#own.get(session.id) ?? new OwnedSession(session)
    this.#own.set(session.id, own)
    own.stored(record, revision)
    if (term === this.#hosts.term) own.term = term
    else this.#enqueue(own)
    return epoch
  }

  #seen(id: string, record: SessionRecord | undefined): void {
    this.#index(id, record?.owner)
    const own = this.#own.get(id)
    if (own !== undefined) this.#compare(own, record)
    this.#feed.changed(id)
  }

  /** What the copy has of an own session. Another owner fences it at once; for all else the leader is asked. */
  #compare(own: OwnedSession, record: SessionRecord | undefined): void {
    const { host } = this.#hosts
    if (record !== undefined && record.owner !== host && record.epoch > own.epoch)
      return void this.#fence(own, record.owner)
    if (record?.owner === host || own.epoch === 0) return
    own.mustRead = true
    this.#enqueue(own)
  }

  #index(id: string, owner: string | undefined): void {
    const before = this.#owners.get(id)
    if (before === owner) return
    if (before !== undefined) {
      const ids = this.#byOwner.get(before)
      ids?.delete(id)
      if (ids?.size === 0) this.#byOwner.delete(before)
    }
    if (owner === undefined) return void this.#owners.delete(id)
    this.#owners.set(id, owner)
    const ids = this.#byOwner.get(owner)
    if (ids === undefined) this.#byOwner.set(owner, new Set([id]))
    else ids.add(id)
  }

  #readAgain(): void {
    for (const own of this.#own.values()) this.#queue.add(own)
    this.#unsettled = new Set(this.#movable())
    this.#work()
    this.#settled(undefined)
  }

  #suspend(): void {
    this.#isSuspended = true
    this.#options.onSuspended(this.#movable().map(({ id }) => id))
  }

  /** A session that may move was read again, or is no longer here. */
  #settled(own: OwnedSession | undefined): void {
    if (own !== undefined) this.#unsettled.delete(own)
    if (!this.#isSuspended || this.#unsettled.size > 0 || this.#hosts.term === undefined) return
    this.#isSuspended = false
    this.#options.onReleased()
  }

  #movable(): readonly OwnedSession[] {
    return [...this.#own.values()].filter(({ isMovable }) => isMovable)
  }

  #hostChanged(host: string): void {
    const isReachable = this.#hosts.isReachable(host)
    if (this.#shown.has(host) === isReachable) return
    if (isReachable) this.#shown.add(host)
    else this.#shown.delete(host)
    for (const id of this.ownedBy(host)) this.#feed.changed(id)
  }

  #later(ms: number, run: () => void): void {
    if (this.#isClosed) return
    const timer = this.#clock.after(ms, () => {
      this.#timers.delete(timer)
      run()
    })
    this.#timers.add(timer)
  }

  async #read(id: string): Promise<Stored> {
    return (await this.#tried(() => this.#bucket.read(id))) ?? { revision: ABSENT }
  }

  async #tried<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (thrown) {
      throw clusterError(thrown)
    }
  }
}

const MAX_ATTEMPTS = 8
const NONE: ReadonlySet<string> = new Set()

/** A record that is too large for the bucket is stored without what only details of a session show. */
function bounded(record: SessionRecord): SessionRecord {
  if (JSON.stringify(record).length * 3 < MAX_RECORD_BYTES) return record
  const { agent: _agent, config: _config, ...session } = record.session
  return {
    ...record,
    session: { ...session, warnings: ['This record is too large for the fleet. Its host has all of it.'] },
  }
}

function epochOf(id: string, outcome: Confirmation): number {
  switch (outcome.type) {
    case 'owned':
      return outcome.epoch
    case 'closed':
      throw closed()
    case 'fenced':
      if (outcome.owner === undefined)
        throw new AgentprotoError('session_not_found', `The session ${id} was deleted in the fleet`)
      throw notTaken(id, `it is the session of ${outcome.owner}`, outcome.owner)
  }
}

const closed = (): AgentprotoError => new AgentprotoError('shutting_down', 'This gateway leaves its fleet')

const notTaken = (id: string, reason: string, host: string | undefined): AgentprotoError =>
  new AgentprotoError(
    'session_live',
    `The session ${id} cannot be had: ${reason}`,
    host === undefined ? {} : { data: { host } },
  )
