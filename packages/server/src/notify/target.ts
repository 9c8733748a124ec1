import type { Clock, Notification } from '@agentproto/contracts'
import type { DropReason, NotificationState, NotifyTarget } from '@agentproto/contracts/wire'
import { RepeatLimit } from '../telemetry/repeat-limit.js'

export type TargetState = NotificationState['targets'][number]

/** Where notifications go. */
export interface Target {
  readonly name: NotifyTarget
  /** For people: a program, or scheme and host. */
  readonly to: string
  readonly counts: TargetCounts
  /** Delivers what an earlier gateway left. Never rejects. */
  open(): Promise<void>
  /** Delivers it in its own time. Never throws. */
  notify(notification: Notification): void
  /** Delivers it now. @returns why it failed; undefined when it did not. Never rejects */
  test(notification: Notification): Promise<string | undefined>
  waiting(): Pick<TargetState, 'waiting' | 'oldestAt' | 'nextAttemptAt'>
  /** Idempotent. */
  close(): Promise<void>
}

export interface CountsOptions {
  readonly name: NotifyTarget
  readonly clock: Clock
  readonly onProblem: (problem: string) => void
}

/** What became of the notifications of one target since the start. A failure is reported once a minute (F75). */
export class TargetCounts {
  readonly #options: CountsOptions
  readonly #reports: RepeatLimit
  readonly #dropped = new Map<DropReason, number>()
  delivered = 0
  failures = 0
  /** Why the last attempt failed; undefined when it did not. */
  problem: string | undefined

  constructor(options: CountsOptions) {
    this.#options = options
    this.#reports = new RepeatLimit(options.clock, 1)
  }

  get dropped(): TargetState['dropped'] {
    return Object.fromEntries(this.#dropped)
  }

  readonly onDelivered = (): void => {
    this.delivered += 1
    this.problem = undefined
  }

  readonly onFailed = (problem: string): void => {
    this.failures += 1
    this.problem = problem
    this.report(`A notification could not be delivered: ${problem}`)
  }

  readonly onDropped = (reason: DropReason, count: number): void => {
    if (count === 0) return
    const sum = (this.#dropped.get(reason) ?? 0) + count
    this.#dropped.set(reason, sum)
    this.report(`Notifications are dropped (${reason})`, `${sum} since the start`)
  }

  /** @param detail What differs from one time to the next */
  readonly report = (problem: string, detail = ''): void => {
    if (!this.#reports.check(problem).admitted) return
    this.#options.onProblem(`${this.#options.name}: ${problem}${detail === '' ? '' : `, ${detail}`}`)
  }
}
