import { setMaxListeners } from 'node:events'
import { AgentprotoError, pause, type Session } from '@agentproto/contracts'
import type { MovedSettings } from '@agentproto/contracts/agent'
import type { Reader } from '@agentproto/contracts/wire'
import { ABSENT, Bucket, isStoredAgain, NEVER_STORED, type Stored } from '../cluster/bucket.js'
import { BucketCopy } from '../cluster/bucket-copy.js'
import type { ClaimEvents } from './claim-events.js'
import { notTaken } from './claim-outcome.js'
import { type Cluster, clusterError } from '../cluster/cluster.js'
import type { SessionRecord } from './directory-records.js'
import type { HostDirectory } from './host-directory.js'
import { KnownSessions } from './known-sessions.js'
import { movable } from './owned-session.js'
import { parseSession } from './parse-record.js'
import { SessionClaims } from './session-claims.js'
import { RemovalMarks } from './removal-marks.js'
import { SESSIONS_BUCKET } from '../subjects.js'

export interface SessionDirectoryOptions extends ClaimEvents {
  readonly cluster: Cluster
  readonly hosts: HostDirectory
}

/** Of 2 kB each: what a gateway can keep. */
const MAX_SESSIONS = 200_000
const MAX_ATTEMPTS = 8
const IDLE_MS = 5_000
/** Until the record of a session that was deleted here is asked for again. */
const DELETED_MS = 100

/**
 * The sessions of the fleet: records in a bucket that are only changed by compare-and-set, a watched copy of them, and the
 * claims of this host.
 */
export class SessionDirectory {
  readonly #hosts: HostDirectory
  readonly #bucket: Bucket
  readonly #copy: BucketCopy<SessionRecord>
  readonly #known: KnownSessions
  readonly #claims: SessionClaims
  readonly #marks: RemovalMarks
  readonly #stopListening: () => void
  readonly #closing = new AbortController()

  private constructor(bucket: Bucket, options: SessionDirectoryOptions) {
    const { cluster, hosts, onProblem } = options
    this.#hosts = hosts
    // One for each session that is being taken.
    setMaxListeners(0, this.#closing.signal)
    this.#bucket = bucket
    this.#known = new KnownSessions(hosts)
    this.#copy = new BucketCopy({
      nats: cluster.nats,
      bucket,
      clock: hosts.clock,
      idleMs: IDLE_MS,
      maxKeys: MAX_SESSIONS,
      parse: parseSession,
      isOlder,
      onChange: (id, record, { revision }) => this.#seen(id, record, revision),
      onForged: (id) => this.#claims.seen(id, undefined),
      onProblem,
    })
    this.#claims = new SessionClaims({ ...options, bucket, copy: this.#copy })
    this.#marks = new RemovalMarks({ bucket, clock: hosts.clock, isMine: () => hosts.isFirst })
    this.#stopListening = hosts.listen({
      joined: () => this.#claims.readAgain(),
      lost: () => this.#claims.suspend(),
      changed: (host) => this.#known.hostChanged(host),
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
    return this.#known.owners()
  }

  /** Ids of the sessions of a host, from the copy. */
  ownedBy(host: string): ReadonlySet<string> {
    return this.#known.ownedBy(host)
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

  /** Whether the lease was lost, and `onReleased` was not called since then. */
  get isSuspended(): boolean {
    return this.#claims.isSuspended
  }

  /** Ids of sessions that changed, or whose host was lost or came back. */
  changes(): Reader<readonly string[]> {
    return this.#known.feed.read()
  }

  /**
   * Keeps the record of an own session as the given one. A new session is claimed; without a lease it is written when there
   * is one again. Returns at once; the latest of several in a row is written.
   */
  keep(session: Session, settings?: MovedSettings): void {
    this.#claims.keep(session, settings)
  }

  /**
   * Claims an own session, and waits for it as long as NATS is away.
   * @returns its epoch
   * @throws `session_live` with `host` when another host has it, `session_not_found` when it was deleted, `shutting_down`
   */
  claim(session: Session, settings?: MovedSettings): Promise<number> {
    return this.#claims.claim(session, settings)
  }

  /**
   * Makes a session that no host has this host's, also one that was deleted before.
   * @returns false when a host has it, or when that cannot be known now
   */
  async reserve(session: Session): Promise<boolean> {
    const { host, clock } = this.#hosts
    for (let attempt = 0; attempt < MAX_ATTEMPTS && this.#hosts.term !== undefined; attempt++) {
      const stored = await this.#read(session.id)
      const record = this.#recordIn(session.id, stored)
      // This host has deleted it, and its record is about to be.
      if (record?.owner === host && stored.isForged !== true) await pause(clock, DELETED_MS, this.#closing.signal)
      else return record === undefined && stored.isForged !== true && this.#make(session, stored.revision)
    }
    return false
  }

  /** The epoch of an own session; undefined while it is not known, or when it is another host's. */
  epochOf(id: string): number | undefined {
    return this.#claims.epochOf(id)
  }

  /**
   * Whether this host may publish events of a session now: it has its lease, and in this lease has read that the
   * session is its own. Ask before each message.
   */
  mayWrite(id: string): boolean {
    return this.#claims.mayWrite(id)
  }

  /**
   * Whether this host may run the agent of a session now. One that waits for its host always may, until it is fenced. One
   * that may move only with the lease. Ask before each turn.
   */
  mayRun(id: string): boolean {
    return this.#claims.mayRun(id)
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
    const record = this.#recordIn(id, stored)
    if (record === undefined) throw new AgentprotoError('session_not_found', `The fleet has no session ${id}`)
    const { owner } = record
    if (owner === this.#hosts.host) return this.#claims.taken(record, stored.revision)
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
  complete(id: string, seq: number): Promise<void> {
    return this.#claims.complete(id, seq)
  }

  /** An own session was deleted. @throws `session_live` when another host has it, `cluster_unavailable` */
  async forget(id: string): Promise<void> {
    this.#claims.drop(id)
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { value, revision, isForged } = await this.#read(id)
      if (value === undefined && isForged !== true) return
      const owner = (value === undefined ? this.get(id) : parseSession(id, value))?.owner
      if (owner !== this.#hosts.host) throw notTaken(id, `it is the session of ${owner ?? 'an unknown host'}`, owner)
      const removed = await this.#tried(() => this.#bucket.remove(id, revision))
      if (removed !== undefined) return this.#copy.written(id, undefined, removed)
    }
    throw new AgentprotoError('cluster_unavailable', `The record of the session ${id} changes too often to be removed`)
  }

  close(): void {
    this.#closing.abort()
    this.#stopListening()
    this.#claims.close()
    this.#marks.close()
    this.#copy.close()
    this.#known.feed.close()
  }

  /** What a gateway has stored last, also where somebody else has written over it since then. */
  #recordIn(id: string, stored: Stored): SessionRecord | undefined {
    const isOverwritten = stored.isForged === true || isStoredAgain(stored, this.#copy.signed(id))
    if (isOverwritten) return this.#copy.records.get(id)
    const record = stored.value === undefined ? undefined : parseSession(id, stored.value)
    const known = this.#copy.records.get(id)
    return record && known && stored.replaced === ABSENT && isOlder(record, known) ? known : record
  }

  async #make(session: Session, expected: number): Promise<boolean> {
    const { host, term } = this.#hosts
    if (term === undefined) return false
    const record: SessionRecord = { owner: host, epoch: 1, term, session }
    const written = await this.#tried(() => this.#bucket.write(session.id, record, expected))
    if (written === undefined) return false
    this.#copy.written(session.id, record, written)
    this.#claims.taken(record, written)
    return true
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
      session: { ...session, hostId: host, movedFrom: owner, ...ARRIVING },
    }
    const written = await this.#tried(() => this.#bucket.write(session.id, taken, revision))
    if (written === undefined) throw notTaken(session.id, 'another host was faster', owner)
    this.#copy.written(session.id, taken, written)
    return this.#claims.taken(taken, written)
  }

  #seen(id: string, record: SessionRecord | undefined, revision: number): void {
    this.#claims.seen(id, record, revision)
    this.#known.seen(id, record)
  }

  async #read(id: string): Promise<Stored> {
    return (await this.#tried(() => this.#bucket.read(id))) ?? NEVER_STORED
  }

  async #tried<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (thrown) {
      throw clusterError(thrown)
    }
  }
}

/** Numbers of owners and of events only grow. */
const isOlder = (record: SessionRecord, known: SessionRecord): boolean =>
  record.epoch < known.epoch || (record.epoch === known.epoch && record.session.lastSeq < known.session.lastSeq)

/** Until it is whole at its new host, which then writes what it is. */
const ARRIVING = { state: 'unreachable', attachable: false, wakeable: false } as const
