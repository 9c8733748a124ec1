import { AckPolicy, type ConsumerMessages, DeliverPolicy, type JsMsg } from '@nats-io/jetstream'
import { createInbox, nanos } from '@nats-io/transport-node'
import type { Bucket } from './bucket.js'

/** A server refuses less. */
const MIN_IDLE_MS = 100

export interface FollowOptions {
  readonly bucket: Bucket
  /** A server that sends nothing for twice as long is not listened to any more, in milliseconds. */
  readonly idleMs: number
}

export interface FollowEvents {
  readonly onMessage: (message: JsMsg, isListed: boolean) => void
  /** All that was there when it began was passed on. */
  readonly onListed: () => void
  readonly onLost: (reason: string) => void
}

/** One consumer of the bucket, from its first listing until something is missed. */
export class BucketFollow {
  readonly #options: FollowOptions
  readonly #events: FollowEvents
  #messages: ConsumerMessages | undefined
  #isStopped = false
  #isListed = false
  #delivered = 0

  constructor(options: FollowOptions, events: FollowEvents) {
    this.#options = options
    this.#events = events
    void this.#run().catch((thrown: unknown) => this.#lose(thrown instanceof Error ? thrown.message : String(thrown)))
  }

  stop(): void {
    this.#isStopped = true
    // The server removes the consumer when no one listens to it.
    void this.#messages?.close()
  }

  async #run(): Promise<void> {
    const { bucket, idleMs } = this.#options
    const deliver = createInbox()
    const idle = nanos(Math.max(MIN_IDLE_MS, idleMs))
    const bound = await bucket.client.consumers.getBoundPushConsumer({ deliver_subject: deliver, idle_heartbeat: idle })
    // Listening comes first: a consumer that no one listens to sends nothing.
    const messages = await bound.consume({ callback: (message) => this.#onMessage(message) })
    this.#messages = messages
    if (this.#isStopped) return this.stop()
    void this.#watch(messages)
    const { num_pending: pending } = await bucket.manager.consumers.add(bucket.stream, {
      deliver_subject: deliver,
      deliver_policy: DeliverPolicy.LastPerSubject,
      filter_subject: bucket.subjects,
      ack_policy: AckPolicy.None,
      max_deliver: 1,
      flow_control: true,
      idle_heartbeat: idle,
      inactive_threshold: nanos(30_000),
      num_replicas: 1,
      mem_storage: true,
    })
    if (pending === 0) this.#list()
  }

  #onMessage(message: JsMsg): void {
    if (this.#isStopped) return
    const { deliverySequence, pending } = message.info
    if (deliverySequence !== this.#delivered + 1) return this.#lose('a message is missing')
    this.#delivered = deliverySequence
    this.#events.onMessage(message, !this.#isListed)
    if (pending === 0) this.#list()
  }

  async #watch(messages: ConsumerMessages): Promise<void> {
    for await (const status of messages.status()) {
      if (this.#isStopped) return
      if (status.type === 'heartbeat') this.#onHeartbeat(status.lastConsumerSequence)
      else if (LOST.has(status.type)) this.#lose(status.type.replaceAll('_', ' '))
    }
    this.#lose('the subscription has ended')
  }

  /** A server sends one when it has nothing to send. It is read later than it came: messages may have come after it. */
  #onHeartbeat(sent: number): void {
    if (sent > this.#delivered) this.#lose('a message is missing')
    // A message that was replaced while it waited is never sent, so that none may say that nothing is pending.
    else this.#list()
  }

  #list(): void {
    if (this.#isListed || this.#isStopped) return
    this.#isListed = true
    this.#events.onListed()
  }

  #lose(reason: string): void {
    if (this.#isStopped) return
    this.stop()
    this.#events.onLost(reason)
  }
}

const LOST: ReadonlySet<string> = new Set([
  'heartbeats_missed',
  'consumer_deleted',
  'consumer_not_found',
  'stream_not_found',
])
