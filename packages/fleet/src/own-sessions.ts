import {
  type Clock,
  everySession,
  isAgentprotoError,
  isLive,
  type Session,
  toAgentprotoError,
} from '@agentproto/contracts'
import type { MovedSettings, SessionMoves } from '@agentproto/contracts/agent'
import type { SessionChange, SessionService, SessionWatcher } from '@agentproto/contracts/wire'
import { Backoff } from './cluster/backoff.js'
import type { FleetLog } from './log/fleet-log.js'
import type { LogPublisher } from './log/log-publisher.js'
import type { SessionDirectory } from './directory/session-directory.js'

export interface OwnSessionsOptions {
  /** The name of this host. */
  readonly host: string
  readonly sessions: Pick<SessionService, 'list' | 'watch' | 'follow'>
  readonly moves: Pick<SessionMoves, 'settingsOf'>
  readonly directory: Pick<SessionDirectory, 'get' | 'ownedBy' | 'keep' | 'claim' | 'complete' | 'forget'>
  readonly publisher: Pick<LogPublisher, 'publish'>
  readonly log: Pick<FleetLog, 'remove'>
  readonly clock: Clock
  readonly onProblem: (problem: string) => void
}

/**
 * Keeps what the fleet has of the sessions of this host as it is here: their records in the directory, their events in the
 * fleet's log.
 */
export class OwnSessions {
  readonly #options: OwnSessionsOptions
  #watcher: SessionWatcher
  /** The latest record of each session whose log is being published. */
  readonly #publishing = new Map<string, Session>()
  /** Sessions that were kept, and not deleted since: the directory may have others of this host, as one that is being moved here. */
  readonly #kept = new Set<string>()
  /** Sessions that another host has: nothing more of them is written. */
  readonly #fenced = new Set<string>()
  /** Sessions whose log cannot be published; why was reported. */
  readonly #stopped = new Set<string>()
  /** Ids that were reserved for imports before this host joined. */
  readonly #reserved: readonly string[]
  readonly #closing = new AbortController()
  /** Resolves when every session that was here at the start is confirmed to be this host's, or was fenced. Never rejects. */
  readonly confirmed: Promise<void>
  #confirm: () => void = () => undefined
  /** Resolves when the sessions of this host are closed, and their last changes were kept. */
  readonly done: Promise<void>

  /** Sessions that change from now on are kept at once, the others while this is waited for. */
  constructor(options: OwnSessionsOptions) {
    this.#options = options
    // Before the list, so that no change is missed between the two.
    this.#watcher = options.sessions.watch()
    this.#reserved = reservedIn(options)
    this.confirmed = new Promise((resolve) => (this.#confirm = resolve))
    this.done = this.#run()
  }

  /** Another host has the session. */
  fence(id: string): void {
    this.#fenced.add(id)
  }

  /** Another host had the session, and this one has taken it over. */
  release(id: string): void {
    this.#fenced.delete(id)
  }

  close(): void {
    this.#closing.abort()
    this.#watcher.close()
  }

  async #run(): Promise<void> {
    try {
      const movable: Session[] = []
      const here = new Set<string>()
      for await (const session of everySession(this.#options.sessions)) {
        here.add(session.id)
        this.#keep(session)
        if (session.onHostLoss === 'move' && session.movedTo === undefined) movable.push(session)
      }
      void this.#confirmAll(movable)
      for (const id of this.#reserved) if (!here.has(id)) void this.#forget(id)
      while (await this.#keepChanges()) await this.#catchUp()
    } catch (thrown) {
      this.#options.onProblem(
        `The sessions of this host are not reported to the fleet any more: ${toAgentprotoError(thrown).message}`,
      )
    }
  }

  /** Until the watch ends. @returns whether changes were missed */
  async #keepChanges(): Promise<boolean> {
    const watcher = this.#watcher
    for (let changes = await watcher.next(); changes !== undefined; changes = await watcher.next())
      changes.forEach((change) => this.#apply(change))
    return watcher.fellBehind === true && !this.#closing.signal.aborted
  }

  /** Keeps all sessions as they are now, and forgets those that were kept and are gone. */
  async #catchUp(): Promise<void> {
    const { sessions } = this.#options
    this.#watcher = sessions.watch()
    const gone = new Set(this.#kept)
    for await (const session of everySession(sessions)) {
      gone.delete(session.id)
      this.#keep(session)
    }
    for (const id of gone) void this.#forget(id)
  }

  /** One that another host has is fenced by this. */
  async #confirmAll(sessions: readonly Session[]): Promise<void> {
    await Promise.allSettled(
      sessions.map((session) => this.#options.directory.claim(session, this.#settingsOf(session))),
    )
    this.#confirm()
  }

  #apply(change: SessionChange): void {
    if (change.type === 'session') this.#keep(change.session)
    else void this.#forget(change.id)
  }

  #keep(session: Session): void {
    const { id, movedTo } = session
    if (movedTo !== undefined || this.#fenced.has(id)) return
    this.#kept.add(id)
    this.#options.directory.keep(session, this.#settingsOf(session))
    const isPublishing = this.#publishing.has(id)
    if (!isPublishing && (this.#stopped.has(id) || !this.#hasMore(session))) return
    this.#publishing.set(id, session)
    if (!isPublishing) void this.#publish(id)
  }

  /** What another host needs to go on with it; undefined where none may. */
  #settingsOf({ id, onHostLoss }: Session): MovedSettings | undefined {
    return onHostLoss === 'move' ? this.#options.moves.settingsOf(id) : undefined
  }

  /** Whether events of the session are not in the fleet's log, as far as its record says. */
  #hasMore(session: Session): boolean {
    return isLive(session) || session.lastSeq > (this.#options.directory.get(session.id)?.complete ?? 0)
  }

  /** Until the session has ended. One that is resumed at the same time goes on. */
  async #publish(id: string): Promise<void> {
    const { directory, publisher, sessions, onProblem } = this.#options
    try {
      for (let session = this.#publishing.get(id); session !== undefined; session = this.#next(id, session)) {
        await directory.claim(session, this.#settingsOf(session))
        const end = await publisher.publish(id, (after) => sessions.follow(id, after)).done
        if (end.type === 'stopped') this.#stopped.add(id)
        if (end.type !== 'complete') return
        await directory.complete(id, end.lastSeq)
      }
    } catch (thrown) {
      // Another host has it, it was deleted, or this host leaves: each is reported where it is found.
      if (!isAgentprotoError(thrown) || !EXPECTED.has(thrown.code))
        onProblem(`The session ${id} is not reported to the fleet any more: ${toAgentprotoError(thrown).message}`)
    } finally {
      this.#publishing.delete(id)
    }
  }

  /** The session again, if it has changed while its log was completed. */
  #next(id: string, before: Session): Session | undefined {
    const latest = this.#publishing.get(id)
    return latest !== undefined && latest !== before && this.#hasMore(latest) ? latest : undefined
  }

  async #forget(id: string): Promise<void> {
    this.#kept.delete(id)
    if (this.#fenced.has(id)) return
    const { directory, log, clock, onProblem } = this.#options
    const backoff = new Backoff(clock)
    let isReported = false
    while (!this.#closing.signal.aborted) {
      try {
        await directory.forget(id)
        return await log.remove(id)
      } catch (thrown) {
        if (!isReported)
          onProblem(`The fleet still has the deleted session ${id}: ${toAgentprotoError(thrown).message}`)
        if (!isAgentprotoError(thrown) || !thrown.row.retryable) return
        isReported = true
      }
      await backoff.wait(this.#closing.signal)
    }
  }
}

/** A host that was killed while it imported a session has the id, and no event of it. */
const reservedIn = ({ directory, host }: Pick<OwnSessionsOptions, 'directory' | 'host'>): readonly string[] =>
  [...directory.ownedBy(host)].filter((id) => {
    const session = directory.get(id)?.session
    return session?.imported !== undefined && session.lastSeq === 0
  })

const EXPECTED: ReadonlySet<string> = new Set(['session_live', 'session_not_found', 'shutting_down'])
