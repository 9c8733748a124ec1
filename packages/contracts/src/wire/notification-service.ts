import type { Principal } from '../principal.js'
import type { NotificationState, NotificationTest } from './notification-responses.js'

/** The notifications that a gateway sends to its owner (docs/notifications.md). */
export interface NotificationService {
  /** What is sent, and what waits. */
  state(): Promise<NotificationState>
  /** Sends a test to each target at once, past the outbox. @throws `invalid_request` when no target is configured */
  test(by: Principal): Promise<NotificationTest>
}
