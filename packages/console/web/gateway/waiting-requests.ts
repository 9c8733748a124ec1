import type { Client, Session, SessionRequest } from '@agentproto/client'
import { type Signal, signal } from '@preact/signals'
import { notifyOf } from './notifier.js'

/** How long a request that was answered elsewhere says so, in milliseconds. */
const ANSWERED_MS = 5_000
/** A host that did not answer, and is not known to be away, is asked again after so long, in milliseconds. */
const RETRY_MS = 5_000
/** Of so many sessions of hosts that do not answer the requests are read from their logs; each read is of a whole log. */
const MAX_LOGS = 20

type Sessions = Signal<ReadonlyMap<string, Session>>

/** The requests of all sessions that wait for a person. */
export class WaitingRequests {
  /** Oldest first as a host has them; those of hosts that do not answer as they were last known. */
  readonly pending = signal<readonly SessionRequest[]>([])
  /** Those that waited and were answered elsewhere a moment ago. */
  readonly answered = signal<readonly SessionRequest[]>([])
  /** Hosts that do not answer, and on which more waits than is known here. */
  readonly missing = signal<readonly string[]>([])
  readonly #client: Client
  readonly #sessions: Sessions
  /** Requests that this page answers. */
  readonly #own = new Set<string>()
  /** Sessions that are shown, whose record may be older than their log. */
  readonly #shown = new Set<string>()
  /** Sessions whose log was read, with the number of its last event. */
  readonly #logs = new Map<string, number>()
  #isReading = false
  #readAgain = false
  /** Of a login: what was asked for in an earlier one is not shown. */
  #login = 0
  #retry: ReturnType<typeof setTimeout> | undefined

  constructor(client: Client, sessions: Sessions) {
    this.#client = client
    this.#sessions = sessions
  }

  /** This page answers it: it does not say who did. */
  answering(requestId: string): void {
    this.#own.add(requestId)
  }

  /** The answer of this page failed. */
  notAnswered(requestId: string): void {
    this.#own.delete(requestId)
  }

  /** Reads also what a session waits for by its log alone, until the returned function is called. */
  show(id: string): () => void {
    this.#shown.add(id)
    void this.read()
    return () => void this.#shown.delete(id)
  }

  /** One read at a time; a call during a read causes one more. */
  async read(): Promise<void> {
    this.#readAgain = true
    if (this.#isReading) return
    this.#isReading = true
    try {
      while (this.#readAgain) {
        this.#readAgain = false
        await this.#readOnce()
      }
    } catch {
      // The follower notices an outage and a lost login; its next connect reads again.
    } finally {
      this.#isReading = false
    }
  }

  /** Forgets all: the login is over. */
  clear(): void {
    this.#login++
    clearTimeout(this.#retry)
    this.#logs.clear()
    this.pending.value = []
    this.answered.value = []
    this.missing.value = []
  }

  async #readOnce(): Promise<void> {
    const login = this.#login
    const before = this.pending.value
    const silent = new Set<string>()
    const heard = await this.#client.sessions.allWaiting(({ host }) => void silent.add(host))
    const all = [...heard, ...(await this.#ofSilent(silent, before))]
    if (login !== this.#login) return
    this.pending.value = all
    this.missing.value = silent.size === 0 ? [] : this.#missing(silent, all)
    this.#plan(silent)
    this.#notify(before)
    await this.#showAnswered(before)
  }

  /** What waits at hosts that do not answer still waits: it is not gone because nobody can say so. */
  async #ofSilent(silent: ReadonlySet<string>, before: readonly SessionRequest[]): Promise<readonly SessionRequest[]> {
    // When it is away again, what it has published may be more.
    for (const id of this.#logs.keys()) if (!silent.has(this.#hostOf(id))) this.#logs.delete(id)
    if (silent.size === 0) return []
    const known = before.filter(({ sessionId }) => silent.has(this.#hostOf(sessionId)))
    const ofKnown = new Set(known.map(({ sessionId }) => sessionId))
    const unread = this.#waitingAt(silent).filter(
      ({ id, lastSeq, state }) => state === 'unreachable' && !ofKnown.has(id) && this.#logs.get(id) !== lastSeq,
    )
    for (const { id, lastSeq } of unread.slice(0, MAX_LOGS)) {
      this.#logs.set(id, lastSeq)
      known.push(...(await this.#inLog(id)))
    }
    return known
  }

  /** From what its host has published. */
  async #inLog(id: string): Promise<readonly SessionRequest[]> {
    try {
      return (await this.#client.sessions.requests(id)).filter(({ state }) => state === 'pending')
    } catch {
      // It is counted as missing, and read again.
      this.#logs.delete(id)
      return []
    }
  }

  #hostOf(sessionId: string): string {
    return this.#sessions.value.get(sessionId)?.hostId ?? ''
  }

  #waitingAt(hosts: ReadonlySet<string>): readonly Session[] {
    return [...this.#sessions.value.values()]
      .filter(({ id, hostId, pendingRequests }) => hosts.has(hostId) && (pendingRequests > 0 || this.#shown.has(id)))
      .toSorted((a, b) => b.lastActiveAt.localeCompare(a.lastActiveAt))
  }

  #missing(silent: ReadonlySet<string>, all: readonly SessionRequest[]): readonly string[] {
    const counts = new Map<string, number>()
    for (const { sessionId } of all) counts.set(sessionId, (counts.get(sessionId) ?? 0) + 1)
    const isMissing = ({ id, pendingRequests }: Session): boolean => pendingRequests > (counts.get(id) ?? 0)
    return [
      ...new Set(
        this.#waitingAt(silent)
          .filter(isMissing)
          .map(({ hostId }) => hostId),
      ),
    ].toSorted()
  }

  /** A host that is away says by its sessions when it is back. One that was only slow does not. */
  #plan(silent: ReadonlySet<string>): void {
    clearTimeout(this.#retry)
    const isSlow = [...this.#sessions.value.values()].some(
      ({ hostId, state }) => state !== 'unreachable' && silent.has(hostId),
    )
    if (isSlow) this.#retry = setTimeout(() => void this.read(), RETRY_MS)
  }

  #notify(before: readonly SessionRequest[]): void {
    const known = new Set(before.map(({ requestId }) => requestId))
    notifyOf(this.pending.value.filter(({ requestId }) => !known.has(requestId)))
  }

  /** Those that waited before and were answered by somebody else say so for a moment. */
  async #showAnswered(before: readonly SessionRequest[]): Promise<void> {
    const still = new Set(this.pending.value.map(({ requestId }) => requestId))
    const gone = before.filter(({ requestId }) => !still.has(requestId) && !this.#own.delete(requestId))
    for (const sessionId of new Set(gone.map((request) => request.sessionId))) {
      const ids = new Set(gone.map(({ requestId }) => requestId))
      // The session may be deleted by now.
      const requests = await this.#client.sessions.requests(sessionId).catch(() => [])
      this.#showForAMoment(requests.filter(({ requestId, state }) => ids.has(requestId) && state !== 'pending'))
    }
  }

  #showForAMoment(requests: readonly SessionRequest[]): void {
    if (requests.length === 0) return
    const ids = new Set(requests.map(({ requestId }) => requestId))
    const without = (): readonly SessionRequest[] => this.answered.value.filter(({ requestId }) => !ids.has(requestId))
    this.answered.value = [...without(), ...requests]
    setTimeout(() => (this.answered.value = without()), ANSWERED_MS)
  }
}
