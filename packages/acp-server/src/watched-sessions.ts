import { isAgentprotoError, type Session } from '@agentproto/contracts'
import { setTimeout as pause } from 'node:timers/promises'
import type { AcpServerOptions, AcpSessions } from './acp-host.js'

/** Pause between two attempts to watch an unreachable gateway, in milliseconds. */
const AGAIN_MS = 1_000

export interface WatchOptions extends Pick<AcpServerOptions, 'watch' | 'onProblem'> {
  readonly sessions: Pick<AcpSessions, 'get'>
}

/** Receives a session as it is now, and after each change of it. */
export type OnSession = (session: Session) => void

/** Some of a gateway's sessions as they change. It is watched as long as there are any; only an unreachable gateway is polled. */
export class WatchedSessions {
  readonly #options: WatchOptions
  readonly #watched = new Map<string, Set<OnSession>>()
  #watching: AbortController | undefined
  #connected = false

  constructor(options: WatchOptions) {
    this.#options = options
  }

  add(id: string, onSession: OnSession): void {
    const { watch } = this.#options
    if (watch === undefined) return
    this.#watched.set(id, (this.#watched.get(id) ?? new Set()).add(onSession))
    if (this.#connected) void this.#look(id)
    else if (this.#watching === undefined) void this.#run(watch)
  }

  delete(id: string, onSession: OnSession): void {
    const watched = this.#watched.get(id)
    watched?.delete(onSession)
    if (watched?.size === 0) this.#forget(id)
  }

  close(): void {
    this.#watched.clear()
    this.#watching?.abort()
  }

  #forget(id: string): void {
    this.#watched.delete(id)
    if (this.#watched.size === 0) this.#watching?.abort()
  }

  async #run(watch: NonNullable<WatchOptions['watch']>): Promise<void> {
    const watching = new AbortController()
    this.#watching = watching
    while (!watching.signal.aborted) {
      try {
        await this.#follow(watch, watching.signal)
      } catch (thrown) {
        if (!watching.signal.aborted && !mayComeBack(thrown)) {
          this.#options.onProblem?.(`Sessions are not watched any more: ${String(thrown)}`)
          break
        }
      }
      this.#connected = false
      await pause(AGAIN_MS, undefined, { ref: false, signal: watching.signal }).catch(() => undefined)
    }
    this.#connected = false
    if (this.#watching === watching) this.#watching = undefined
    // A session was added while this loop was ending.
    if (watching.signal.aborted && this.#watched.size > 0 && this.#watching === undefined) void this.#run(watch)
  }

  async #follow(watch: NonNullable<WatchOptions['watch']>, signal: AbortSignal): Promise<void> {
    const onState = ({ state }: { readonly state: string }): void => {
      this.#connected = state === 'connected'
      // Finds changes from before the connection and during an outage.
      if (this.#connected) for (const id of this.#watched.keys()) void this.#look(id)
    }
    for await (const change of watch({ signal, listed: false, onState })) {
      if (change.type === 'session') this.#offer(change.session)
      else this.#forget(change.id)
    }
  }

  async #look(id: string): Promise<void> {
    const session = await this.#options.sessions.get(id).catch(() => undefined)
    if (session !== undefined) this.#offer(session)
  }

  #offer(session: Session): void {
    for (const onSession of this.#watched.get(session.id) ?? []) onSession(session)
  }
}

const mayComeBack = (thrown: unknown): boolean => isAgentprotoError(thrown) && thrown.row.retryable
