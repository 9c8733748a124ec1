import type { Clock, Timer } from '@agentproto/contracts'
import type { DropReason } from '@agentproto/contracts/wire'
import type { Outbox } from './outbox.js'
import type { Delivery, Message } from './webhook.js'

export interface SenderOptions {
  readonly outbox: Outbox
  readonly send: (message: Message, signal: AbortSignal) => Promise<Delivery>
  readonly clock: Clock
  /** Between 0 and 1; spreads the attempts of many gateways. Default random. */
  readonly jitter?: () => number
  readonly onDelivered: () => void
  readonly onFailed: (problem: string) => void
  readonly onDropped: (reason: DropReason, count: number) => void
}

/** Waiting times after failures in a row, in milliseconds; the last one repeats. */
const BACK_OFF_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000] as const
/** Statuses that are about the message and not about the receiver. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 415, 422])
/** A message that is refused so often is dropped. */
const MAX_REFUSALS = 3
const MAX_WAIT_MS = 3_600_000
/** Standard Webhooks: the receiver wants no more messages. */
const GONE = 410

/**
 * Delivers the outbox, one message at a time and oldest first. A failure holds all of them back, longer each time, so that
 * a receiver that is down gets one attempt and not one for each message.
 */
export class WebhookSender {
  readonly #options: SenderOptions
  readonly #ending = new AbortController()
  #sending: Promise<void> | undefined
  #timer: Timer | undefined
  #failures = 0
  #isGone = false
  /** When the next attempt is made after a failure, in milliseconds since the epoch. */
  nextAttemptAt: number | undefined

  constructor(options: SenderOptions) {
    this.#options = options
  }

  /** The receiver asked for no more messages: nothing is sent until the next start. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** Sends what waits, unless that is being done or a failure holds it back. */
  wake(): void {
    if (this.#sending !== undefined || this.#timer !== undefined || this.#isGone) return
    if (this.#ending.signal.aborted) return
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = undefined
      // One was added after the loop had seen the end.
      if (this.#timer === undefined && this.#options.outbox.size > 0) this.wake()
    })
  }

  /** Ends the attempt that is under way; its message stays in the outbox. Idempotent. */
  async close(): Promise<void> {
    this.#ending.abort()
    this.#timer?.cancel()
    await this.#sending
    await this.#options.outbox.flushed()
  }

  async #sendAll(): Promise<void> {
    const { outbox, send, onDelivered } = this.#options
    const { signal } = this.#ending
    for (let entry = outbox.first; entry !== undefined && !signal.aborted; entry = outbox.first) {
      // Its file exists before it is sent: a process that dies in between sends it again.
      await outbox.flushed()
      const delivery = await send(entry, signal)
      if (signal.aborted && !delivery.ok) return
      if (!delivery.ok) return this.#failed(entry.id, delivery)
      this.#failures = 0
      onDelivered()
      await outbox.remove(entry.id)
    }
  }

  #failed(id: string, { status, retryAfterMs, problem = 'unknown' }: Delivery): void {
    const { outbox, clock, jitter = Math.random, onFailed } = this.#options
    onFailed(problem)
    if (status === GONE) {
      this.#isGone = true
      return this.#dropAll()
    }
    const isRefused = status !== undefined && REFUSALS.has(status)
    outbox.postpone(id, { isRefused })
    if (isRefused) this.#dropRefused(id)
    const step = BACK_OFF_MS[Math.min(this.#failures, BACK_OFF_MS.length - 1)] ?? MAX_WAIT_MS
    this.#failures += 1
    const waitMs = Math.min(Math.max(retryAfterMs ?? 0, step * (1 + jitter() / 5)), MAX_WAIT_MS)
    this.nextAttemptAt = clock.now() + waitMs
    this.#timer = clock.after(waitMs, () => {
      this.#timer = undefined
      this.nextAttemptAt = undefined
      this.wake()
    })
  }

  #dropRefused(id: string): void {
    const { outbox, onDropped } = this.#options
    if (outbox.refusalsOf(id) < MAX_REFUSALS) return
    void outbox.remove(id)
    onDropped('rejected', 1)
  }

  #dropAll(): void {
    const { outbox, onDropped } = this.#options
    onDropped('gone', outbox.size)
    for (let entry = outbox.first; entry !== undefined; entry = outbox.first) void outbox.remove(entry.id)
  }
}
