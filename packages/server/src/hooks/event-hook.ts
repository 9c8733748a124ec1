import {
  type Clock,
  everySession,
  isAgentprotoError,
  isLive,
  type Session,
  type SessionEvent,
} from '@agentproto/contracts'
import type { EventReader, SessionService, SessionWatcher } from '@agentproto/contracts/wire'
import { RepeatLimit } from '../telemetry/repeat-limit.js'
import type { GatewayHooks } from './gateway-hooks.js'
import { withTimeLimit } from './time-limit.js'

export interface EventHookOptions {
  readonly sessions: Pick<SessionService, 'follow' | 'watch' | 'list' | 'get'>
  readonly clock: Clock
  readonly timeoutMs: number
  readonly onProblem: (problem: string) => void
}

/** A hook that hangs this often in a row gets no more events: each time costs its whole limit. */
const MAX_HANGS = 5
/** How long the end of a gateway waits for the delivery of the last events, in milliseconds. */
const CLOSE_GRACE_MS = 5_000

/** Delivers every event of every session to a hook, as one more follower of their logs. */
export class EventHook {
  readonly #hook: NonNullable<GatewayHooks['onEvent']>
  readonly #options: EventHookOptions
  readonly #ending = new AbortController()
  /** `seq` of the last delivered event, by session; events before the start are not delivered. */
  readonly #lastSeq = new Map<string, number>()
  readonly #following = new Map<string, Promise<void>>()
  #watcher: SessionWatcher
  #watching: Promise<void> | undefined
  #hangs = 0
  /** A hook that throws is reported once a minute (F75). */
  readonly #reports: RepeatLimit

  constructor(hook: NonNullable<GatewayHooks['onEvent']>, options: EventHookOptions) {
    this.#hook = hook
    this.#options = options
    this.#reports = new RepeatLimit(options.clock, 1)
    this.#watcher = options.sessions.watch()
  }

  async start(): Promise<void> {
    for await (const { id, lastSeq } of everySession(this.#options.sessions)) this.#lastSeq.set(id, lastSeq)
    this.#watching = this.#watch()
  }

  /** Resolves when every event was delivered, or the grace is over. Idempotent. */
  async close(): Promise<void> {
    const timer = this.#options.clock.after(CLOSE_GRACE_MS, () => this.#end())
    await Promise.all([this.#watching, ...this.#following.values()])
    timer.cancel()
    this.#end()
  }

  #end(): void {
    this.#ending.abort()
    this.#watcher.close()
  }

  async #watch(): Promise<void> {
    while (await this.#readChanges()) await this.#catchUp()
  }

  /** Reads until the watch ends. @returns whether changes were missed */
  async #readChanges(): Promise<boolean> {
    const { signal } = this.#ending
    const watcher = this.#watcher
    for (;;) {
      const changes = await watcher.next(signal).catch(() => undefined)
      if (signal.aborted) return false
      if (changes === undefined) return watcher.fellBehind === true
      for (const change of changes) {
        if (change.type === 'forgotten') this.#lastSeq.delete(change.id)
        else this.#follow(change.session)
      }
    }
  }

  /** Follows what has changed meanwhile. */
  async #catchUp(): Promise<void> {
    const { sessions } = this.#options
    const gone = new Set(this.#lastSeq.keys())
    // Before the list, so that no change is missed between the two.
    this.#watcher = sessions.watch()
    try {
      for await (const session of everySession(sessions)) {
        gone.delete(session.id)
        if (session.lastSeq > (this.#lastSeq.get(session.id) ?? 0)) this.#follow(session)
      }
      for (const id of gone) this.#lastSeq.delete(id)
    } catch (thrown) {
      this.#readFailed(thrown)
    }
  }

  #follow({ id }: Session): void {
    if (this.#following.has(id) || this.#ending.signal.aborted) return
    const following = this.#readAll(id)
      .catch((thrown: unknown) => this.#readFailed(thrown))
      .finally(() => this.#following.delete(id))
    this.#following.set(id, following)
  }

  /** Reads until the session has ended, and a run that began meanwhile as well. */
  async #readAll(id: string): Promise<void> {
    const { sessions } = this.#options
    do {
      const reader = await sessions.follow(id, this.#lastSeq.get(id) ?? 0)
      try {
        await this.#read(id, reader)
      } finally {
        reader.close()
      }
    } while (!this.#ending.signal.aborted && isLive(await sessions.get(id)))
  }

  async #read(id: string, reader: EventReader): Promise<void> {
    const { signal } = this.#ending
    for (;;) {
      const batch = await reader.next(signal)
      if (batch === undefined) return
      for (const { seq, json } of batch.records) {
        if (signal.aborted) return
        await this.#deliver(JSON.parse(json) as SessionEvent)
        this.#lastSeq.set(id, seq)
      }
    }
  }

  async #deliver(event: SessionEvent): Promise<void> {
    try {
      await withTimeLimit((context) => this.#hook(event, context), this.#options)
      this.#hangs = 0
    } catch (thrown) {
      this.#problem(thrown)
      if (!isAgentprotoError(thrown) || thrown.code !== 'timeout') return
      this.#hangs += 1
      if (this.#hangs < MAX_HANGS) return
      this.#options.onProblem(`hook onEvent: it gets no more events: it hung ${MAX_HANGS} times in a row`)
      this.#end()
    }
  }

  #problem(thrown: unknown): void {
    if (!this.#reports.check('onEvent').admitted) return
    this.#options.onProblem(`hook onEvent: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  }

  #readFailed(thrown: unknown): void {
    // A session that was deleted has no more events.
    if (this.#ending.signal.aborted || (isAgentprotoError(thrown) && thrown.code === 'session_not_found')) return
    this.#problem(thrown)
  }
}
