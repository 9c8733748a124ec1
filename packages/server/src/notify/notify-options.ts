import type { NotifyEvent } from '@agentproto/contracts'

/** What a gateway notifies its owner of, and how (docs/notifications.md). Without a command and a webhook: nothing. */
export interface NotifyOptions {
  /** Default: all events. */
  readonly on?: readonly NotifyEvent[]
  /** A turn that took less, in milliseconds, is not notified at its end. Default one minute. */
  readonly turnMs?: number
  /** A request that is answered within this time, in milliseconds, is not notified. Default two seconds. */
  readonly delayMs?: number
  /** Only sessions of these workspaces, by slug. Default: all. */
  readonly workspaces?: readonly string[]
  /** Only sessions with one of these labels. Default: all. */
  readonly labels?: readonly string[]
  /** A program and its arguments, run without a shell. The text is in its environment, the whole notification on stdin. */
  readonly command?: readonly string[]
  readonly webhook?: WebhookOptions
  readonly outbox?: OutboxLimits
}

export interface WebhookOptions {
  /** `https:`; `http:` only to an address that `allowPrivate` allows. */
  readonly url?: string
  /** Slug of the secret that signs. Default `notify-webhook`. */
  readonly secret?: string
  /** Whether it may be on this machine or in a private network. Default false. */
  readonly allowPrivate?: boolean
}

/** What waits for the webhook is bounded; beyond a limit the oldest is dropped and counted. */
export interface OutboxLimits {
  /** Default 1,000. */
  readonly entries?: number
  /** Default 1 MiB. */
  readonly bytes?: number
  /** Default one day. */
  readonly maxAgeMs?: number
}
