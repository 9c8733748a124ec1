import type { Notification } from '@agentproto/contracts'
import { runDesktopCommand, type DesktopCommand } from './desktop-command.js'
import { bodyOf, environmentOf } from './notification-text.js'
import type { Target, TargetCounts } from './target.js'

/** Notifications that wait while one is shown; a desktop is no archive, so more are dropped. */
const MAX_WAITING = 20

/** A program of the desktop: one run at a time, each notification once. */
export class CommandTarget implements Target {
  readonly name = 'command'
  readonly to: string
  readonly counts: TargetCounts
  readonly #command: DesktopCommand
  readonly #ending = new AbortController()
  readonly #queue: Notification[] = []
  #running: Promise<void> | undefined

  constructor(command: DesktopCommand, counts: TargetCounts) {
    this.#command = command
    this.counts = counts
    this.to = command.argv[0] ?? ''
  }

  open(): Promise<void> {
    return Promise.resolve()
  }

  notify(notification: Notification): void {
    if (this.#ending.signal.aborted) return
    if (this.#queue.length >= MAX_WAITING) return this.counts.onDropped('full', 1)
    this.#queue.push(notification)
    this.#running ??= this.#runAll().finally(() => (this.#running = undefined))
  }

  test(notification: Notification): Promise<string | undefined> {
    return this.#run(notification)
  }

  waiting(): { readonly waiting: number } {
    return { waiting: this.#queue.length }
  }

  async close(): Promise<void> {
    this.#ending.abort()
    this.#queue.length = 0
    await this.#running
  }

  async #runAll(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      const problem = await this.#run(next)
      if (this.#ending.signal.aborted) return
      if (problem === undefined) this.counts.onDelivered()
      else {
        this.counts.onFailed(problem)
        this.counts.onDropped('failed', 1)
      }
    }
  }

  #run(notification: Notification): Promise<string | undefined> {
    const input = { env: environmentOf(notification), stdin: `${bodyOf(notification)}\n` }
    return runDesktopCommand(this.#command, input, this.#ending.signal)
  }
}
