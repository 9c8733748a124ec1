import type { TurnOutcome } from '@agentproto/arm-kit'
import { type AgentprotoError, type Clock, settlesWithin } from '@agentproto/contracts'
import { ConnectFailure, errorOf } from './connect-failure.js'
import { endSession, type RejoiningClient, rejoin, type RemoteSession } from './rejoin.js'

/** How long the agent may take to close its sessions before its connection is closed, in milliseconds. */
const GOODBYE_MS = 1_000

/** The sessions of an agent that runs elsewhere: they outlive a connection, and go on with the next one. */
export class RemoteSessions {
  readonly #client: RejoiningClient
  readonly #sessions = new Set<RemoteSession>()

  constructor(client: RejoiningClient) {
    this.#client = client
  }

  get size(): number {
    return this.#sessions.size
  }

  add(remote: RemoteSession): void {
    this.#sessions.add(remote)
  }

  /** Their connection was lost: what they asked of the host on it is asked again, or not at all. */
  lost(): void {
    this.#prune()
    for (const { catchUp } of this.#sessions) catchUp.asks.lost()
  }

  /**
   * Loads all of them again on a new connection.
   * @param why the last one was lost
   * @param line the connection that is open
   * @throws {@link ConnectFailure} when the only one is refused; what a load fails with when the connection is lost again
   */
  async rejoin(why: string, line: () => unknown): Promise<void> {
    this.#prune()
    for (const remote of this.#sessions) {
      const before = line()
      try {
        await rejoin(this.#client, remote, why)
      } catch (thrown) {
        const error = errorOf(thrown)
        // Otherwise the connection was lost again, or is too slow.
        const isRefused = line() === before && REFUSALS.has(error.code)
        if (!isRefused) throw thrown
        if (this.#sessions.size === 1) throw new ConnectFailure(error, true)
        this.#sessions.delete(remote)
        endSession(remote, error)
      }
    }
  }

  notify(severity: 'info' | 'warning', text: string): void {
    for (const { session } of this.#sessions) {
      session.conversation.addNotice({ type: 'notice', severity, text })
      void session.conversation.flush()
    }
  }

  /** The agent ends what it does for them, as far as it does so in time. */
  async sayGoodbye(clock: Clock): Promise<void> {
    this.#prune()
    const goodbyes = [...this.#sessions].map(async ({ session }) => {
      await session.cancel()
      await session.close()
    })
    await settlesWithin(GOODBYE_MS, Promise.allSettled(goodbyes), clock)
  }

  /** All of them end. Returns whether a turn was left unanswered. */
  end(reason: AgentprotoError, outcome: TurnOutcome): boolean {
    return [...this.#sessions].map(({ session }) => session.end(reason, outcome)).includes(true)
  }

  /** Forgets those that were closed. */
  #prune(): void {
    for (const remote of this.#sessions) if (remote.session.conversation.closed) this.#sessions.delete(remote)
  }
}

/** Answers to `session/load` and `session/resume` that another attempt does not change. */
const REFUSALS: ReadonlySet<string> = new Set(['not_resumable', 'auth_required'])
