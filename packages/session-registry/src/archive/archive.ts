import {
  AgentprotoError,
  type Clock,
  defined,
  type EventGap,
  isLive,
  type NewId,
  type Principal,
  type Session,
  type Timer,
} from '@agentproto/contracts'
import type { EventStore, SessionStore } from '@agentproto/contracts/agent'
import {
  ARCHIVE_BOUNDS,
  type ExportFormat,
  type PruneRequest,
  type PruneResult,
  type RepairReport,
  type SearchHit,
  type SearchQuery,
  type SearchResult,
  type SessionArchive,
  type SessionBounds,
  type UnreadableEvents,
} from '@agentproto/contracts/wire'
import { messageOf } from '../lifecycle/ending.js'
import type { SessionActor } from '../session/actor.js'
import { sizeOfGap } from '../log/log-gap.js'
import { exportOf } from './session-export.js'
import { sessionNotFound } from '../records/session-id.js'
import { importSession } from './session-import.js'
import { cursorOf, startOf } from '../records/session-page.js'
import { allEventsOf } from './session-reading.js'
import { repairSession } from './session-repair.js'
import { findIn, type Searching } from './session-search.js'
import { descriptorOf, type SessionCache, type CachedSession } from '../session-cache.js'

/** See {@link SessionArchive}: the stored sessions of one registry. */

export interface ArchiveHost {
  readonly sessions: SessionCache
  readonly logs: EventStore
  readonly store: SessionStore
  readonly clock: Clock
  readonly newId: NewId
  readonly redact?: (text: string) => string
  readonly forget: (id: string, by: Principal) => Promise<void>
  /** Stores a record that has changed. */
  readonly save: (session: SessionActor) => Promise<void>
  readonly onProblem: (problem: string) => void
}

const DEFAULT_HITS = 20
/** One call searches for this long at most, then returns a cursor, in milliseconds. */
const SEARCH_MS = 20_000
/** How often expired sessions are searched, in milliseconds. */
const RETENTION_MS = 60 * 60_000
/** The configuration asked for it. */
const RETENTION: Principal = { type: 'owner', name: 'retention' }

interface Collecting {
  readonly q: string
  readonly limit: number
  readonly hits: SearchHit[]
  readonly unreadable: UnreadableEvents[]
  readonly signal: AbortSignal | undefined
}

export class Archive implements SessionArchive {
  readonly #host: ArchiveHost
  #timer: Timer | undefined

  constructor(host: ArchiveHost) {
    this.#host = host
  }

  async search(query: SearchQuery, within?: SessionBounds, signal?: AbortSignal): Promise<SearchResult> {
    const { sessions, clock } = this.#host
    const { limit = DEFAULT_HITS, q } = query
    const isReached = sessions.scope(within)
    const all = sessions.all
    const until = clock.now() + SEARCH_MS
    const [hits, unreadable]: [SearchHit[], UnreadableEvents[]] = [[], []]
    const found = (): SearchResult => ({ hits, ...(unreadable.length === 0 ? {} : { unreadable }) })
    for (let at = startOf(all, query.after); at >= 0; at -= 1) {
      const session = descriptorOf(all[at] as CachedSession)
      if (!isReached(session) || !isMeant(session, query)) continue
      await this.#collect(session, { q, limit, hits, unreadable, signal })
      const isFull = hits.length >= limit || unreadable.length >= ARCHIVE_BOUNDS.searchUnreadable
      const isDue = isFull || clock.now() >= until
      if (isDue && at > 0) return { ...found(), nextCursor: cursorOf(all, at) }
      if (isDue) break
    }
    return found()
  }

  /** @throws `cancelled` */
  async #collect(session: Session, { q, limit, hits, unreadable, signal }: Collecting): Promise<void> {
    let events = 0
    const onGap = (gap: EventGap): void => void (events += sizeOfGap(gap))
    for await (const hit of this.#findIn(session, { text: q, onGap })) {
      hits.push(hit)
      if (hits.length >= limit) break
    }
    if (events > 0) unreadable.push({ sessionId: session.id, events })
    if (signal?.aborted === true) throw new AgentprotoError('cancelled', 'The search was cancelled by its caller')
  }

  async prune({ olderThanMs, dryRun = false }: PruneRequest, by: Principal): Promise<PruneResult> {
    const { sessions, clock, forget } = this.#host
    const before = clock.now() - olderThanMs
    const old = sessions.all.map(descriptorOf).filter((session) => !isLive(session) && endOf(session) < before)
    const pruned: PruneResult['pruned'][number][] = []
    for (const session of old) {
      // It may have been resumed or forgotten meanwhile.
      const now = sessions.descriptor(session.id)
      if (now === undefined || isLive(now) || endOf(now) >= before) continue
      if (!dryRun) await forget(session.id, by)
      pruned.push(lineOf(session))
    }
    return { dryRun, pruned }
  }

  /** Forgets sessions older than this, from now on; 0 for never. */
  retain(olderThanMs: number): void {
    if (olderThanMs === 0) return
    const { clock, onProblem } = this.#host
    void this.prune({ olderThanMs }, RETENTION).catch((error: unknown) => onProblem(messageOf(error)))
    this.#timer = clock.after(RETENTION_MS, () => this.retain(olderThanMs))
  }

  close(): void {
    this.#timer?.cancel()
  }

  async repair(id: string, { dryRun }: { readonly dryRun: boolean }): Promise<RepairReport> {
    const { sessions, save } = this.#host
    const session = sessions.get(id)
    const findings = await repairSession(session, this.#host, dryRun)
    if (findings.some(({ mended }) => mended)) await save(session)
    return { id, dryRun, findings }
  }

  async export(id: string, format: ExportFormat): Promise<AsyncIterable<string>> {
    const session = this.#host.sessions.descriptor(id)
    if (session === undefined) throw sessionNotFound(id)
    return exportOf(session, allEventsOf(id, this.#host), { format, now: this.#now() })
  }

  async import(text: AsyncIterable<string>): Promise<Session> {
    const { sessions, store, logs, newId, redact } = this.#host
    const isTaken = (id: string): boolean => sessions.descriptor(id) !== undefined
    const now = this.#now()
    const stored = await importSession(text, { logs, newId, isTaken, now, ...(redact === undefined ? {} : { redact }) })
    await store.save(stored)
    sessions.put(stored)
    return stored.session
  }

  /** A session may be forgotten during the search. */
  async *#findIn(session: Session, searching: Searching): AsyncGenerator<SearchHit> {
    try {
      yield* findIn(session, allEventsOf(session.id, this.#host), searching)
    } catch (error) {
      if (this.#host.sessions.descriptor(session.id) !== undefined) throw error
    }
  }

  #now(): string {
    return new Date(this.#host.clock.now()).toISOString()
  }
}

const endOf = ({ endedAt, lastActiveAt }: Session): number => Date.parse(endedAt ?? lastActiveAt)

const isMeant = ({ adapterSlug, workspaceSlug }: Session, { adapter, workspace }: SearchQuery): boolean =>
  (adapter === undefined || adapter === adapterSlug) && (workspace === undefined || workspace === workspaceSlug)

const lineOf = ({ id, title, label, endedAt }: Session): PruneResult['pruned'][number] => ({
  id,
  ...defined({ title, label, endedAt }),
})
