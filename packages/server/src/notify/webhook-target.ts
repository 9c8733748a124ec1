import type { Notification } from '@agentproto/contracts'
import { bodyOf } from './notification-text.js'
import type { OutboxLimits } from './notify-options.js'
import { Outbox } from './outbox.js'
import type { Target, TargetCounts, TargetState } from './target.js'
import type { Delivery, Message, Receiver } from './webhook.js'
import { WebhookSender } from './webhook-sender.js'
import { parseWebhookUrl } from './webhook-url.js'

const LIMITS = { entries: 1_000, bytes: 1024 * 1024, maxAgeMs: 24 * 60 * 60 * 1_000 } as const

export interface WebhookTargetOptions {
  readonly receiver: Receiver
  /** Absolute path; undefined keeps the outbox in memory. */
  readonly directory: string | undefined
  readonly limits: OutboxLimits
  readonly counts: TargetCounts
}

/** A webhook, through an outbox. */
export class WebhookTarget implements Target {
  readonly name = 'webhook'
  readonly to: string
  readonly counts: TargetCounts
  readonly #receiver: Receiver
  readonly #outbox: Outbox
  readonly #sender: WebhookSender
  readonly #ending = new AbortController()

  /** @throws `invalid_request` for an address that is none */
  constructor({ receiver, directory, limits, counts }: WebhookTargetOptions) {
    const { clock } = receiver
    this.counts = counts
    this.to = parseWebhookUrl(receiver.url).origin
    this.#receiver = receiver
    const { onDelivered, onFailed, onDropped, report: onProblem } = counts
    this.#outbox = new Outbox({ ...LIMITS, ...limits, directory, clock, onDropped, onProblem })
    const send = (message: Message, signal: AbortSignal): Promise<Delivery> => this.#send(message, signal)
    this.#sender = new WebhookSender({ outbox: this.#outbox, send, clock, onDelivered, onFailed, onDropped })
  }

  async open(): Promise<void> {
    await this.#outbox.open()
    this.#sender.wake()
  }

  notify(notification: Notification): void {
    if (this.#sender.isGone) return this.counts.onDropped('gone', 1)
    void this.#outbox.add({ id: notification.id, body: bodyOf(notification) })
    this.#sender.wake()
  }

  async test(notification: Notification): Promise<string | undefined> {
    const message = { id: notification.id, body: bodyOf(notification) }
    const { ok, problem = 'it failed' } = await this.#send(message, this.#ending.signal)
    return ok ? undefined : problem
  }

  waiting(): Pick<TargetState, 'waiting' | 'oldestAt' | 'nextAttemptAt'> {
    const { size, oldestAt } = this.#outbox
    const { nextAttemptAt } = this.#sender
    return {
      waiting: size,
      ...(oldestAt !== undefined && { oldestAt: new Date(oldestAt).toISOString() }),
      ...(nextAttemptAt !== undefined && { nextAttemptAt: new Date(nextAttemptAt).toISOString() }),
    }
  }

  close(): Promise<void> {
    this.#ending.abort()
    return this.#sender.close()
  }

  /** Loaded with the first message: most gateways never send one. */
  async #send(message: Message, signal: AbortSignal): Promise<Delivery> {
    const { sendWebhook } = await import('./webhook.js')
    return sendWebhook(this.#receiver, message, signal)
  }
}
