import { type Clock, randomId } from '@agentproto/contracts'
import {
  AckPolicy,
  type ConsumerMessages,
  type ConsumerNotification,
  DeliverPolicy,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  type JsMsg,
  ReplayPolicy,
} from '@nats-io/jetstream'
import { nanos, type NatsConnection } from '@nats-io/transport-node'
import { Backoff } from './backoff.js'
import { LOG_STREAM, logSubject } from './subjects.js'

/** A reader asks for so many messages at once; more wait in the server. */
const MESSAGES = 16
/** A reader hears of its server at least so often; two missed are its end. */
const HEARTBEAT_MS = 2_000
const EXPIRES_MS = 30_000
/** A consumer whose reader is gone, or slower than this, is removed by the server. */
const INACTIVE_MS = 60_000

/**
 * Reads the messages of one session in the order of the stream, each once, from a place on; waits for more. A consumer that is
 * lost, with its server or by a reconnect, is replaced by another one that goes on after the last message that was read.
 */
export class SubjectReader {
  readonly #nats: NatsConnection
  readonly #sessionId: string
  readonly #backoff: Backoff
  readonly #closing = new AbortController()
  #from: number
  #consuming: Consuming | undefined

  /** @param from Place in the stream of the first message that may be read */
  constructor(nats: NatsConnection, clock: Clock, { sessionId, from }: { sessionId: string; from: number }) {
    this.#nats = nats
    this.#sessionId = sessionId
    this.#backoff = new Backoff(clock)
    this.#from = from
  }

  /** The next message, as soon as there is one; undefined once the reader is closed. One call at a time. */
  async next(): Promise<JsMsg | undefined> {
    const { signal } = this.#closing
    while (!signal.aborted && !this.#nats.isClosed()) {
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
    } catch {
      return undefined
    }
  }

  async #consume(): Promise<Consuming> {
    const manager = await jetstreamManager(this.#nats, { checkAPI: false })
    return Consuming.open(manager, jetstream(this.#nats), { sessionId: this.#sessionId, from: this.#from })
  }

  #drop(): void {
    this.#consuming?.close()
    this.#consuming = undefined
  }
}

/** One consumer in the server, until it is lost. */
class Consuming {
  readonly #manager: JetStreamManager
  readonly #name: string
  readonly #messages: ConsumerMessages
  readonly #iterator: AsyncIterator<JsMsg>
  #delivered = 0

  static async open(
    manager: JetStreamManager,
    client: JetStreamClient,
    { sessionId, from }: { sessionId: string; from: number },
  ): Promise<Consuming> {
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
    const messages = await client.consumers.getConsumerFromInfo(info).consume({
      max_messages: MESSAGES,
      expires: EXPIRES_MS,
      idle_heartbeat: HEARTBEAT_MS,
    })
    return new Consuming(manager, info.name, messages)
  }

  private constructor(manager: JetStreamManager, name: string, messages: ConsumerMessages) {
    this.#manager = manager
    this.#name = name
    this.#messages = messages
    this.#iterator = messages[Symbol.asyncIterator]()
    void stopWhenLost(messages)
  }

  async next(): Promise<JsMsg | undefined> {
    const { value, done } = await this.#iterator.next()
    if (done === true) return undefined
    // Messages that were on their way when the connection was lost are not sent again.
    this.#delivered += 1
    return value.info.deliverySequence === this.#delivered ? value : undefined
  }

  close(): void {
    // Not awaited: it resolves only for a reader that goes on.
    this.#messages.stop()
    void this.#manager.consumers.delete(LOG_STREAM, this.#name).catch(() => undefined)
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
