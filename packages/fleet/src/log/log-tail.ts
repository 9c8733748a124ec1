import { defined } from '@agentproto/contracts'
import { type JetStreamManager, jetstreamManager, type StoredMsg } from '@nats-io/jetstream'
import type { Cluster } from '../cluster/cluster.js'
import { lastWhole, type LogMessage, parseLogMessage } from './log-message.js'
import { LOG_STREAM, logSubject } from '../subjects.js'

/** A message of the log where it lies in the stream. */
interface StoredMessage {
  readonly streamSeq: number
  readonly message: LogMessage
}

/** Where a log ends. */
export interface LogEnd {
  readonly streamSeq: number
  /** Absent if it is not one of a gateway. */
  readonly message?: LogMessage
}

/** Looks up single messages of a session's log. */
export class LogTail {
  readonly #cluster: Pick<Cluster, 'nats' | 'signatures'>
  #manager: Promise<JetStreamManager> | undefined

  constructor(cluster: Pick<Cluster, 'nats' | 'signatures'>) {
    this.#cluster = cluster
  }

  /**
   * The place of the last message, and the last one of a gateway, as the leader of the stream has them; undefined if there is none.
   * @throws errors of NATS
   */
  async last(sessionId: string): Promise<LogEnd | undefined> {
    const end = await this.end(sessionId)
    if (end === undefined || end.message !== undefined) return end
    return { ...end, ...defined({ message: await this.#lastBefore(sessionId, end.streamSeq) }) }
  }

  /** Like {@link last}, without the message if the last one is not one of a gateway. */
  async end(sessionId: string): Promise<LogEnd | undefined> {
    const { streams } = await this.#open()
    const end = await streams.getMessage(LOG_STREAM, { last_by_subj: logSubject(sessionId) })
    return end === null ? undefined : { streamSeq: end.seq, ...defined({ message: this.#readable(end) }) }
  }

  /** Number of the last event that is wholly stored; 0 for none. */
  async lastSeq(sessionId: string): Promise<number> {
    const found = await this.last(sessionId)
    return found?.message === undefined ? 0 : lastWhole(found.message)
  }

  /**
   * Where in the stream a reader of the events after `after` begins: by halves, because the messages of a session lie among
   * those of others and only they say which events they have.
   * @returns a sequence number of the stream
   */
  async startOf(sessionId: string, after: number): Promise<number> {
    if (after === 0) return 1
    const end = await this.end(sessionId)
    if (end === undefined) return 1
    if (end.message !== undefined && end.message.last <= after) return end.streamSeq
    let low = 1
    let found = end.streamSeq
    for (let high = end.streamSeq - 1; low <= high;) {
      const middle = Math.floor((low + high) / 2)
      const next = await this.#next(sessionId, middle, high)
      if (next === undefined || next.message.last > after) {
        found = next?.streamSeq ?? found
        high = middle - 1
      } else low = next.streamSeq + 1
    }
    return found
  }

  /** The first readable message between two places of the stream. Another replica than the leader may answer. */
  async #next(sessionId: string, from: number, to: number): Promise<StoredMessage | undefined> {
    const { direct } = await this.#open()
    for (let seq = from; seq <= to;) {
      const found = await direct.getMessage(LOG_STREAM, { seq, next_by_subj: logSubject(sessionId) })
      if (found === null || found.seq > to) return undefined
      const message = this.#readable(found, true)
      if (message !== undefined) return { streamSeq: found.seq, message }
      seq = found.seq + 1
    }
    return undefined
  }

  /** Another client has written after the last message of a gateway: looks back further and further. */
  async #lastBefore(sessionId: string, streamSeq: number): Promise<LogMessage | undefined> {
    for (let to = streamSeq - 1, count = 16; to > 0; to -= count, count *= 2) {
      const last = await this.#lastWithin(sessionId, Math.max(1, to - count + 1), to)
      if (last !== undefined) return last
    }
    return undefined
  }

  async #lastWithin(sessionId: string, from: number, to: number): Promise<LogMessage | undefined> {
    let last: LogMessage | undefined
    for (let seq = from; seq <= to;) {
      const found = await this.#next(sessionId, seq, to)
      if (found === undefined) break
      last = found.message
      seq = found.streamSeq + 1
    }
    return last
  }

  /** Undefined for what no gateway of the fleet has stored. */
  #readable({ subject, header, data }: StoredMsg, isDirect = false): LogMessage | undefined {
    try {
      return parseLogMessage({ subject, headers: header, body: data, isDirect }, this.#cluster.signatures)
    } catch {
      return undefined
    }
  }

  #open(): Promise<JetStreamManager> {
    this.#manager ??= jetstreamManager(this.#cluster.nats, { checkAPI: false })
    return this.#manager
  }
}
