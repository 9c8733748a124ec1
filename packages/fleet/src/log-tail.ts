import { defined } from '@agentproto/contracts'
import { type JetStreamManager, jetstreamManager, type StoredMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { lastWhole, type LogMessage, parseLogMessage } from './log-message.js'
import { LOG_STREAM, logSubject } from './subjects.js'

/** A message of the log where it lies in the stream. */
export interface StoredMessage {
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
  readonly #nats: NatsConnection
  #manager: Promise<JetStreamManager> | undefined

  constructor(nats: NatsConnection) {
    this.#nats = nats
  }

  /**
   * The last message, as the leader of the stream has it; undefined if there is none.
   * @throws `storage_corrupt` if it is not one of a gateway; errors of NATS
   */
  async last(sessionId: string): Promise<StoredMessage | undefined> {
    const end = await this.#end(sessionId)
    return end === null ? undefined : { streamSeq: end.seq, message: parseLogMessage(end.header, end.data) }
  }

  /** Like {@link last}, without the message if that is not one of a gateway. */
  async end(sessionId: string): Promise<LogEnd | undefined> {
    const end = await this.#end(sessionId)
    return end === null ? undefined : { streamSeq: end.seq, ...defined({ message: readable(end.header, end.data) }) }
  }

  /** Number of the last event that is wholly stored; 0 for none. */
  async lastSeq(sessionId: string): Promise<number> {
    const found = await this.last(sessionId)
    return found === undefined ? 0 : lastWhole(found.message)
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
      const message = readable(found.header, found.data)
      if (message !== undefined) return { streamSeq: found.seq, message }
      seq = found.seq + 1
    }
    return undefined
  }

  async #end(sessionId: string): Promise<StoredMsg | null> {
    const { streams } = await this.#open()
    return streams.getMessage(LOG_STREAM, { last_by_subj: logSubject(sessionId) })
  }

  #open(): Promise<JetStreamManager> {
    this.#manager ??= jetstreamManager(this.#nats, { checkAPI: false })
    return this.#manager
  }
}

const readable = (...stored: Parameters<typeof parseLogMessage>): LogMessage | undefined => {
  try {
    return parseLogMessage(...stored)
  } catch {
    return undefined
  }
}
