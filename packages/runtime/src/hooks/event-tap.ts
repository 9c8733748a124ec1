import {
  type Clock,
  type EventReader,
  isAgentprotoError,
  isLive,
  type Session,
  type SessionEvent,
  type SessionService,
  type SessionWatcher,
} from '@agentproto/contracts'
import type { GatewayHooks } from './gateway-hooks.js'
import { withinTime } from './within-time.js'

export interface EventTapOptions {
  readonly sessions: Pick<SessionService, 'follow' | 'watch' | 'list' | 'get'>
  readonly clock: Clock
  readonly timeoutMs: number
  readonly onProblem: (problem: string) => void
}

/** A hook that has hung so often in a row is let go: each time costs its whole limit. */
const MAX_HANGS = 5
/** A hook that throws is told of once in this time, in milliseconds (F75). */
const PROBLEM_EVERY_MS = 60_000
/** How long the end of a gateway waits for the last events to be told, in milliseconds. */
const CLOSE_GRACE_MS = 5_000

/** Tells a hook every event of every session, as one more follower of their logs. */
export class EventTap {
  readonly #hook: NonNullable<GatewayHooks['onEvent']>
  readonly #options: EventTapOptions
  readonly #leaving = new AbortController()
  /** The last event that was told, by session; those of before the start are not told. */
  readonly #told = new Map<string, number>()
  readonly #following = new Map<string, Promise<void>>()
  readonly #watcher: SessionWatcher
  #watching: Promise<void> | undefined
  #hangs = 0
  #problemAt: number | undefined

  constructor(hook: NonNullable<GatewayHooks['onEvent']>, options: EventTapOptions) {
    this.#hook = hook
    this.#options = options
    this.#watcher = options.sessions.watch()
  }

  async start(): Promise<void> {
    let after: string | undefined
    do {
      const page = await this.#options.sessions.list({ limit: 1_000, ...(after === undefined ? {} : { after }) })
      for (const { id, lastSeq } of page.sessions) this.#told.set(id, lastSeq)
      after = page.nextCursor
    } while (after !== undefined)
    this.#watching = this.#watch()
  }

  /** Ends when all was told, at the latest after a moment. Idempotent. */
  async close(): Promise<void> {
    const timer = this.#options.clock.after(CLOSE_GRACE_MS, () => this.#leave())
    await Promise.all([this.#watching, ...this.#following.values()])
    timer.cancel()
    this.#leave()
  }

  #leave(): void {
    this.#leaving.abort()
    this.#watcher.close()
  }

  async #watch(): Promise<void> {
    const { signal } = this.#leaving
    for (;;) {
      const changes = await this.#watcher.next(signal).catch(() => undefined)
      if (changes === undefined || signal.aborted) return
      for (const change of changes) {
        if (change.type === 'forgotten') this.#told.delete(change.id)
        else this.#follow(change.session)
      }
    }
  }

  #follow({ id }: Session): void {
    if (this.#following.has(id) || this.#leaving.signal.aborted) return
    const following = this.#readAll(id)
      .catch((thrown: unknown) => this.#lost(thrown))
      .finally(() => this.#following.delete(id))
    this.#following.set(id, following)
  }

  /** Until the session has ended; a run that began meanwhile is read as well. */
  async #readAll(id: string): Promise<void> {
    const { sessions } = this.#options
    do {
      const reader = await sessions.follow(id, this.#told.get(id) ?? 0)
      try {
        await this.#read(id, reader)
      } finally {
        reader.close()
      }
    } while (!this.#leaving.signal.aborted && isLive(await sessions.get(id)))
  }

  async #read(id: string, reader: EventReader): Promise<void> {
    const { signal } = this.#leaving
    for (;;) {
      const batch = await reader.next(signal)
      if (batch === undefined) return
      for (const { seq, json } of batch.records) {
        if (signal.aborted) return
        await this.#tell(JSON.parse(json) as SessionEvent)
        this.#told.set(id, seq)
      }
    }
  }

  async #tell(event: SessionEvent): Promise<void> {
    try {
      await withinTime((context) => this.#hook(event, context), this.#options)
      this.#hangs = 0
    } catch (thrown) {
      this.#problem(thrown)
      if (!isAgentprotoError(thrown) || thrown.code !== 'timeout') return
      this.#hangs += 1
      if (this.#hangs < MAX_HANGS) return
      this.#options.onProblem(`hook onEvent: it is told nothing more, as it hung ${MAX_HANGS} times in a row`)
      this.#leave()
    }
  }

  #problem(thrown: unknown): void {
    const now = this.#options.clock.now()
    if (this.#problemAt !== undefined && now - this.#problemAt < PROBLEM_EVERY_MS) return
    this.#problemAt = now
    this.#options.onProblem(`hook onEvent: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  }

  #lost(thrown: unknown): void {
    // A session that was forgotten has no more events; one whose reader was left neither.
    if (this.#leaving.signal.aborted || (isAgentprotoError(thrown) && thrown.code === 'session_not_found')) return
    this.#problem(thrown)
  }
}
