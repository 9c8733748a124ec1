import * as z from 'zod'
import { NOTIFY_EVENTS } from '../notification.js'
import type { ValueOf } from './value-of.js'

const count = z.int().min(0)

export const NOTIFY_TARGETS = ['command', 'webhook'] as const
const target = z.enum(NOTIFY_TARGETS)
export type NotifyTarget = (typeof NOTIFY_TARGETS)[number]

/** Why a notification was never delivered. */
export const DROP_REASONS = ['full', 'expired', 'rejected', 'unreadable', 'failed', 'gone'] as const
export type DropReason = (typeof DROP_REASONS)[number]

export const notificationState = z.object({
  on: z.array(z.enum(NOTIFY_EVENTS)),
  targets: z.array(
    z.object({
      target,
      /** The program, or scheme and host of the webhook: its path may be a secret. */
      to: z.string(),
      /** Stored and not delivered yet. */
      waiting: count,
      oldestAt: z.string().optional(),
      /** Since the start of the gateway, as are `failures` and `dropped`. */
      delivered: count,
      /** Attempts that failed. */
      failures: count,
      /** By reason; a reason without any is absent. */
      dropped: z.partialRecord(z.enum(DROP_REASONS), count),
      nextAttemptAt: z.string().optional(),
      /** Why the last attempt failed; absent when it did not. */
      problem: z.string().optional(),
    }),
  ),
})
export type NotificationState = ValueOf<typeof notificationState>

export const notificationTest = z.object({
  results: z.array(z.object({ target, to: z.string(), ok: z.boolean(), problem: z.string().optional() })),
})
export type NotificationTest = ValueOf<typeof notificationTest>
