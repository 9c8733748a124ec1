import type { FailureKind, StopReason } from './session.js'
import type { TurnEndReason } from './stream-event.js'

/** What a gateway notifies its owner of (docs/notifications.md). */
export const NOTIFY_EVENTS = ['request', 'turn-end', 'failure', 'budget'] as const
export type NotifyEvent = (typeof NOTIFY_EVENTS)[number]

/** The `type` of the body: that of Standard Webhooks, words joined by `_` and `.`. */
export const NOTIFICATION_TYPES: Readonly<Record<NotifyEvent | 'test', string>> = {
  request: 'session.request',
  'turn-end': 'session.turn_end',
  failure: 'session.failure',
  budget: 'session.budget',
  test: 'notify.test',
}

/** Facts by field. Nothing is an agent's words but `agentTitle`. */
export interface NotificationData {
  readonly hostId: string
  /** Absent in a test, as all that is about a session. */
  readonly sessionId?: string
  readonly label?: string
  readonly workspace?: string
  readonly adapter?: string
  readonly turn?: number
  readonly requestId?: string
  readonly requestKind?: 'permission' | 'question'
  /** Of the tool call that waits for permission. */
  readonly toolKind?: string
  /** What the agent calls its request: at most 120 characters, redacted, without control characters. */
  readonly agentTitle?: string
  readonly endReason?: TurnEndReason
  readonly stopReason?: StopReason
  readonly failureKind?: FailureKind
  /** How long the turn took. */
  readonly elapsedMs?: number
}

/** One notification; its id is the same in every attempt to deliver it. */
export interface Notification {
  readonly id: string
  readonly event: NotifyEvent | 'test'
  /** ISO-8601: when it happened. */
  readonly at: string
  readonly data: NotificationData
}
