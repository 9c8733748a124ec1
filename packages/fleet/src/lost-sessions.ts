import { type Clock, isAgentprotoError, type Timer } from '@agentproto/contracts'
import { Backoff } from './backoff.js'
import type { SessionRecord } from './directory-records.js'
import type { HostDirectory } from './host-directory.js'
import { movable } from './owned-session.js'
import type { SessionDirectory } from './session-directory.js'

export interface LostSessionsOptions {
  readonly hosts: HostDirectory
  readonly sessions: SessionDirectory
  /** Whether this host has a session already. */
  readonly isHere: (id: string) => boolean
  /** Whether this host can go on with a session: it has the workspace and the agent, and a free place. */
  readonly canTake: (record: SessionRecord) => boolean
  /** Goes on with a session that is this host's own now. It is called again after an error. */
  readonly take: (record: SessionRecord, epoch: number) => Promise<void>
  readonly onProblem: (problem: string) => void
}

/** Sessions that are taken at the same time, so that several hosts share those of a lost one. */
const MAX_TAKES = 4
const MAX_ATTEMPTS = 5

/**
 * Takes the sessions of lost hosts whose policy is `move`. Every host that can tries; compare-and-set decides which one
 * goes on. What a crash left half taken is taken again at the next start.
 */
export class LostSessions {
  readonly #options: LostSessionsOptions
  readonly #clock: Clock
  readonly #closing = new AbortController()
  readonly #stopListening: () => void
  /** Those that are being taken, and those that failed here too often. */
  readonly #tried = new Set<string>()
  #takes = 0
  #timer: Timer | undefined

  constructor(options: LostSessionsOptions) {
    const { hosts } = options
    this.#options = options
    this.#clock = hosts.clock
    this.#stopListening = hosts.listen({
      joined: () => this.#look(),
      changed: (host) => {
        if (!hosts.isReachable(host)) this.#look()
      },
    })
    this.#look()
  }

  close(): void {
    this.#closing.abort()
    this.#timer?.cancel()
    this.#stopListening()
  }

  /** Also from time to time: a host that is lost while NATS is away is not reported again. */
  #look(): void {
    const { hosts, sessions } = this.#options
    if (this.#closing.signal.aborted) return
    this.#timer?.cancel()
    this.#timer = this.#clock.after(hosts.times.abandonedMs, () => this.#look())
    // Without NATS, every host looks lost.
    if (hosts.term === undefined || !sessions.isCurrent) return
    for (const owner of sessions.owners()) if (!hosts.isReachable(owner) || owner === hosts.host) this.#takeFrom(owner)
  }

  #takeFrom(owner: string): void {
    const { sessions } = this.#options
    for (const id of sessions.ownedBy(owner)) {
      if (this.#takes >= MAX_TAKES) return
      const record = sessions.get(id)
      if (record !== undefined && this.#isWanted(record)) void this.#run(record)
    }
  }

  #isWanted({ owner, session }: SessionRecord): boolean {
    const { hosts, isHere } = this.#options
    const hasEnded = session.state === 'ended' || session.state === 'failed'
    if (this.#tried.has(session.id) || !movable(session)) return false
    // Of its own ones only what a crash left half taken.
    if (owner === hosts.host) return session.movedFrom !== undefined && !isHere(session.id)
    return !hasEnded
  }

  async #run(record: SessionRecord): Promise<void> {
    const { id } = record.session
    if (record.owner !== this.#options.hosts.host && !this.#options.canTake(record)) return
    this.#tried.add(id)
    this.#takes += 1
    const isSettled = await this.#attempt(id)
    this.#takes -= 1
    if (isSettled) this.#tried.delete(id)
    this.#look()
  }

  /** @returns false when it failed so often that this host lets it be */
  async #attempt(id: string): Promise<boolean> {
    const backoff = new Backoff(this.#clock)
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      try {
        await this.#take(id)
        return true
      } catch (thrown) {
        if (this.#closing.signal.aborted || isSettledElsewhere(thrown)) return true
        this.#options.onProblem(
          `The session ${id} of a lost host was not taken: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
        )
        await backoff.wait(this.#closing.signal)
      }
    }
    return false
  }

  async #take(id: string): Promise<void> {
    const { sessions, take } = this.#options
    const epoch = await sessions.takeOver(id)
    const record = sessions.get(id)
    if (record !== undefined && !this.#closing.signal.aborted) await take(record, epoch)
  }
}

/** Another host has it, its host is back, or it was deleted. */
const isSettledElsewhere = (thrown: unknown): boolean =>
  isAgentprotoError(thrown) && (thrown.code === 'session_live' || thrown.code === 'session_not_found')
