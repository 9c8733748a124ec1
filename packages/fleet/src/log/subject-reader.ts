import { type Clock, randomId } from '@agentproto/contracts'
import {
  AckPolicy,
  type ConsumerMessages,
  type ConsumerNotification,
  DeliverPolicy,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  type JsMsg,
  ReplayPolicy,
} from '@nats-io/jetstream'
import { nanos, type NatsConnection } from '@nats-io/transport-node'
import { Backoff } from '../cluster/backoff.js'
import type { Disconnects } from '../cluster/disconnects.js'
import { LOG_STREAM, logSubject } from '../subjects.js'

/** A reader asks for so many messages at once; more wait in the server. */
const MESSAGES = 16
/** A reader hears of its server at least so often; two missed are its end. */
const HEARTBEAT_MS = 2_000
const EXPIRES_MS = 30_000
/** A consumer whose reader is gone, or slower than this, is removed by the server. */
const INACTIVE_MS = 60_000

export interface SubjectReaderOptions {
  readonly nats: NatsConnection
  readonly disconnects: Disconnects
  readonly clock: Clock
  readonly sessionId: string
  /** Place in the stream of the first message that may be read. */
  readonly from: number
  /** An attempt failed; another one follows. */
  readonly onFailure: (error: unknown) => void
}

/**
 * Reads the messages of one session in the order of the stream, each once, from a place on; waits for more. A consumer that is
 * lost, with its server or by a reconnect, is replaced by another one that goes on after the last message that was read.
 */
export class SubjectReader {
  readonly #options: SubjectReaderOptions
  readonly #backoff: Backoff
  readonly #closing = new AbortController()
  #from: number
  #consuming: Consuming | undefined

  constructor(options: SubjectReaderOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.clock)
    this.#from = options.from
  }

  /** The next message, as soon as there is one; undefined once the reader is closed. One call at a time. */
  async next(): Promise<JsMsg | undefined> {
    const { signal } = this.#closing
    while (!signal.aborted && !this.#options.nats.isClosed()) {
      const message = await this.#try()
      if (message !== undefined) return message
      this.#drop()
      await this.#backoff.wait(signal)
    }
    return undefined
  }

  /** Idempotent. */
  close(): void {
    this.#closing.abort()
    this.#drop()
  }

  /** @returns undefined if the consumer is lost */
  async #try(): Promise<JsMsg | undefined> {
    try {
      this.#consuming ??= await this.#consume()
      const message = await this.#consuming.next()
      if (message === undefined) return undefined
      this.#backoff.reset()
      this.#from = message.seq + 1
      return message
    } catch (error) {
      this.#options.onFailure(error)
      return undefined
    }
  }

  async #consume(): Promise<Consuming> {
    return Consuming.open({ ...this.#options, from: this.#from })
  }

  #drop(): void {
    this.#consuming?.close()
    this.#consuming = undefined
  }
}

interface ServerConsumer {
  readonly manager: JetStreamManager
  readonly name: string
  readonly messages: ConsumerMessages
  readonly stopWatching: () => void
}

/** One consumer in the server, until it is lost. */
class Consuming {
  readonly #consumer: ServerConsumer
  readonly #iterator: AsyncIterator<JsMsg>
  #delivered = 0

  static async open({ nats, disconnects, sessionId, from }: SubjectReaderOptions): Promise<Consuming> {
    const manager = await jetstreamManager(nats, { checkAPI: false })
    const info = await manager.consumers.add(LOG_STREAM, {
      name: randomId('reader-'),
      filter_subject: logSubject(sessionId),
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from,
      ack_policy: AckPolicy.None,
      replay_policy: ReplayPolicy.Instant,
      inactive_threshold: nanos(INACTIVE_MS),
      num_replicas: 1,
      mem_storage: true,
    })
    const messages = await jetstream(nats).consumers.getConsumerFromInfo(info).consume({
      max_messages: MESSAGES,
      expires: EXPIRES_MS,
      idle_heartbeat: HEARTBEAT_MS,
      // Without it, a consumer that does not answer would be asked for again, also after the end of its reader.
      bind: true,
    })
    // The client would go on with a consumer that may be on the server that was lost, and hear nothing.
    const stopWatching = disconnects.on(() => messages.stop())
    return new Consuming({ manager, name: info.name, messages, stopWatching })
  }

  private constructor(consumer: ServerConsumer) {
    this.#consumer = consumer
    this.#iterator = consumer.messages[Symbol.asyncIterator]()
    void stopWhenLost(consumer.messages)
  }

  async next(): Promise<JsMsg | undefined> {
    const { value, done } = await this.#iterator.next()
    if (done === true) return undefined
    // Messages that were on their way when the connection was lost are not sent again.
    this.#delivered += 1
    return value.info.deliverySequence === this.#delivered ? value : undefined
  }

  close(): void {
    const { manager, name, messages, stopWatching } = this.#consumer
    stopWatching()
    messages.stop()
    void manager.consumers.delete(LOG_STREAM, name).catch(() => undefined)
  }
}

/** Ends the reading when the server has lost the consumer, or the reader its server. What was received is still read. */
async function stopWhenLost(messages: ConsumerMessages): Promise<void> {
  for await (const { type } of messages.status()) if (LOSSES.has(type)) messages.stop()
}

const LOSSES: ReadonlySet<string> = new Set<ConsumerNotification['type']>([
  'heartbeats_missed',
  'consumer_deleted',
  'consumer_not_found',
  'stream_not_found',
  'no_responders',
  'exceeded_limits',
])
