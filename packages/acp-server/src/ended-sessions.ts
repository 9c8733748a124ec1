import { isAgentprotoError, isLive, type Session } from '@agentproto/contracts'
import { setTimeout as pause } from 'node:timers/promises'
import type { AcpServerOptions, AcpSessions } from './acp-host.js'

/** Pause between two attempts to watch an unreachable gateway, in milliseconds. */
const AGAIN_MS = 1_000

interface Waiting {
  /** The last known event. */
  readonly last: number
  /** @param lastSeq the last event of the gateway's log */
  readonly onRevived: (lastSeq: number) => void
}

interface Options extends Pick<AcpServerOptions, 'watch' | 'onProblem'> {
  readonly sessions: Pick<AcpSessions, 'get'>
}

/**
 * Ended sessions that a client has open: reports it when another client resumes one. The gateway is watched as long as
 * there are any; only an unreachable gateway is polled.
 */
export class EndedSessions {
  readonly #options: Options
  readonly #waiting = new Map<string, Waiting>()
  #watching: AbortController | undefined
  #connected = false

  constructor(options: Options) {
    this.#options = options
  }

  /** Calls back once, as soon as the session runs or its log has new events. */
  add(id: string, waiting: Waiting): void {
    const { watch } = this.#options
    if (watch === undefined) return
    this.#waiting.set(id, waiting)
    if (this.#connected) void this.#look(id)
    else if (this.#watching === undefined) void this.#run(watch)
  }

  delete(id: string): void {
    this.#waiting.delete(id)
    if (this.#waiting.size === 0) this.#watching?.abort()
  }

  close(): void {
    this.#waiting.clear()
    this.#watching?.abort()
  }

  async #run(watch: NonNullable<Options['watch']>): Promise<void> {
    const watching = new AbortController()
    this.#watching = watching
    while (!watching.signal.aborted) {
      try {
        await this.#follow(watch, watching.signal)
      } catch (thrown) {
        if (!watching.signal.aborted && !mayComeBack(thrown)) {
          this.#options.onProblem?.(`Ended sessions are not watched any more: ${String(thrown)}`)
          break
        }
      }
      this.#connected = false
      await pause(AGAIN_MS, undefined, { ref: false, signal: watching.signal }).catch(() => undefined)
    }
    this.#connected = false
    if (this.#watching === watching) this.#watching = undefined
    // A session was added while this loop was ending.
    if (watching.signal.aborted && this.#waiting.size > 0 && this.#watching === undefined) void this.#run(watch)
  }

  async #follow(watch: NonNullable<Options['watch']>, signal: AbortSignal): Promise<void> {
    const onState = ({ state }: { readonly state: string }): void => {
      this.#connected = state === 'connected'
      // Finds changes from before the connection and during an outage.
      if (this.#connected) for (const id of this.#waiting.keys()) void this.#look(id)
    }
    for await (const change of watch({ signal, listed: false, onState })) {
      if (change.type === 'session') this.#offer(change.session)
      else this.delete(change.id)
    }
  }

  async #look(id: string): Promise<void> {
    const session = await this.#options.sessions.get(id).catch(() => undefined)
    if (session !== undefined) this.#offer(session)
  }

  #offer(session: Session): void {
    const waiting = this.#waiting.get(session.id)
    if (waiting === undefined || !(isLive(session) || session.lastSeq > waiting.last)) return
    this.delete(session.id)
    waiting.onRevived(session.lastSeq)
  }
}

const mayComeBack = (thrown: unknown): boolean => isAgentprotoError(thrown) && thrown.row.retryable
