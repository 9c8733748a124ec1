import { AgentprotoError, type Clock, settlesWithin } from '@agentproto/contracts'
import type { EventBatch, EventRecord } from '@agentproto/contracts/agent'
import type { EventReader } from '@agentproto/contracts/wire'
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import { type Cluster, clusterError } from '../cluster/cluster.js'
import { Disconnects } from '../cluster/disconnects.js'
import { LogReader } from './log-reader.js'
import { type LogEnd, LogTail } from './log-tail.js'
import { LOG_STREAM, logSubject } from '../subjects.js'

export interface FleetLogOptions {
  readonly cluster: Pick<Cluster, 'nats' | 'signatures'>
  readonly clock: Clock
  /** Called with problems that are no call's error, such as a message that is refused. */
  readonly onProblem: (problem: string) => void
}

/** One page is read in at most so many milliseconds. */
const READ_MS = 10_000
/** So many problems are said in all; the next ones are most probably the same. */
const MAX_PROBLEMS = 100

/** The logs of all sessions as they are in the fleet: readable from any host, also when their own is gone. */
export class FleetLog {
  readonly #options: FleetLogOptions
  readonly #tail: LogTail
  readonly #disconnects: Disconnects
  readonly #readers = new Map<string, Set<LogReader>>()
  #problems = 0

  constructor(options: FleetLogOptions) {
    this.#options = options
    this.#tail = new LogTail(options.cluster)
    this.#disconnects = new Disconnects(options.cluster.nats)
  }

  /** Number of the last event of a session that is in the fleet; 0 for none. @throws `cluster_unavailable` */
  async lastSeq(sessionId: string): Promise<number> {
    return await this.#tail.lastSeq(sessionId).catch(rethrow)
  }

  /**
   * One page, oldest first: events after `after`, `limit` at most. With a gap and no event, more follows after the gap.
   * @throws `cluster_unavailable`
   */
  async read(sessionId: string, after: number, limit: number): Promise<EventBatch> {
    const end = await this.#tail.end(sessionId).catch(rethrow)
    if (end === undefined || limit < 1 || hasNothingAfter(end, after)) return { records: [] }
    const reader = this.#open(sessionId, after)
    try {
      return await this.#page(reader, end, limit)
    } finally {
      reader.close()
    }
  }

  /** All events after `after` that are there now, oldest first. @throws `cluster_unavailable` */
  async *batches(sessionId: string, after: number): AsyncGenerator<EventBatch> {
    const end = await this.#tail.end(sessionId).catch(rethrow)
    if (end === undefined || hasNothingAfter(end, after)) return
    const reader = this.#open(sessionId, after)
    try {
      while (reader.streamSeq < end.streamSeq) {
        if (!(await settlesWithin(READ_MS, reader.read(), this.#options.clock))) throw tooSlow()
        if (!reader.isOpen) throw closedMeanwhile()
        yield* reader.takeReady()
      }
    } finally {
      reader.close()
    }
  }

  /**
   * Follows a log after `after`, also what will be published. It ends when the session has ended and all was read. While NATS
   * is away it waits.
   */
  follow(sessionId: string, after: number): EventReader {
    return this.#open(sessionId, after)
  }

  /** Removes the log of a session; its readers on this host end. @throws `cluster_unavailable` */
  async remove(sessionId: string): Promise<void> {
    const { streams } = await this.#manager()
    await streams.purge(LOG_STREAM, { filter: logSubject(sessionId) }).catch(rethrow)
    this.endReaders(sessionId)
  }

  /** Ends the readers of a session on this host, because it was forgotten on another one. */
  endReaders(sessionId: string): void {
    for (const reader of this.#readers.get(sessionId) ?? []) reader.close()
  }

  /** Ends all readers. */
  close(): void {
    for (const sessionId of this.#readers.keys()) this.endReaders(sessionId)
  }

  #open(sessionId: string, after: number): LogReader {
    const { cluster, clock } = this.#options
    const reader = new LogReader({
      nats: cluster.nats,
      signatures: cluster.signatures,
      disconnects: this.#disconnects,
      clock,
      tail: this.#tail,
      sessionId,
      after,
      onProblem: (problem) => this.#report(problem),
      onClose: () => this.#forget(sessionId, reader),
    })
    const readers = this.#readers.get(sessionId) ?? new Set()
    this.#readers.set(sessionId, readers.add(reader))
    return reader
  }

  #forget(sessionId: string, reader: LogReader): void {
    const readers = this.#readers.get(sessionId)
    readers?.delete(reader)
    if (readers?.size === 0) this.#readers.delete(sessionId)
  }

  /** Up to a first gap, because a batch has its gap at its beginning. */
  async #page(reader: LogReader, end: LogEnd, limit: number): Promise<EventBatch> {
    const ending = new AbortController()
    const records: EventRecord[] = []
    let gap: EventBatch['gap']
    const isRead = async (): Promise<void> => {
      while (records.length < limit && reader.streamSeq < end.streamSeq && !ending.signal.aborted && reader.isOpen) {
        await reader.read(ending.signal)
        for (const batch of reader.takeReady()) {
          if (batch.gap !== undefined && (gap !== undefined || records.length > 0)) return
          gap ??= batch.gap
          records.push(...batch.records)
        }
      }
    }
    const inTime = await settlesWithin(READ_MS, isRead(), this.#options.clock)
    ending.abort()
    if (!inTime && records.length === 0 && gap === undefined) throw tooSlow()
    return { records: records.slice(0, limit), ...(gap === undefined ? {} : { gap }) }
  }

  #report(problem: string): void {
    this.#problems += 1
    if (this.#problems <= MAX_PROBLEMS) this.#options.onProblem(problem)
  }

  async #manager(): Promise<JetStreamManager> {
    return await jetstreamManager(this.#options.cluster.nats, { checkAPI: false })
  }
}

/** A reader that is ahead learns from a change of the owner that what it has is void. */
const hasNothingAfter = ({ message }: LogEnd, after: number): boolean =>
  message !== undefined && message.kind !== 'owner' && message.last <= after

function rethrow(error: unknown): never {
  throw clusterError(error)
}

const closedMeanwhile = (): AgentprotoError =>
  new AgentprotoError('cluster_unavailable', 'The log was closed while it was read')

const tooSlow = (): AgentprotoError =>
  new AgentprotoError('cluster_unavailable', `The log was not read from JetStream in ${READ_MS / 1_000} s`)
