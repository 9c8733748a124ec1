import {
  AgentprotoError,
  defined,
  type EventGap,
  isLive,
  type Principal,
  type Session,
  type Timer,
} from '@agentproto/contracts'
import {
  ARCHIVE_BOUNDS,
  type Forgotten,
  type ExportFormat,
  type FleetIds,
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
import type { ChangeFeed } from '../change-feed.js'
import { messageOf } from '../lifecycle/ending.js'
import { sizeOfGap } from '../log/log-gap.js'
import { exportOf } from './session-export.js'
import { sessionNotFound } from '../records/session-id.js'
import { ImportId } from './import-id.js'
import { type ImportHost, importSession } from './session-import.js'
import { cursorOf, startOf } from '../records/session-page.js'
import { allEventsOf } from './session-reading.js'
import { repairSession } from './session-repair.js'
import { findIn } from './session-search.js'
import { descriptorOf, type SessionCache, type CachedSession } from '../session-cache.js'
import type { SessionHost } from '../session-host.js'

/** See {@link SessionArchive}: the stored sessions of one registry. */

export interface ArchiveHost extends Pick<
  SessionHost,
  'logs' | 'store' | 'clock' | 'newId' | 'hostId' | 'redact' | 'keep' | 'onProblem'
> {
  readonly sessions: SessionCache
  readonly feed: ChangeFeed
  readonly forget: (id: string, by: Principal) => Promise<Forgotten>
}

const DEFAULT_HITS = 20
/** One call searches for this long at most, then returns a cursor, in milliseconds. */
const SEARCH_MS = 20_000
/** How often expired sessions are searched, in milliseconds. */
const RETENTION_MS = 60 * 60_000
/** The configuration asked for it. */
const RETENTION: Principal = { type: 'owner', name: 'retention' }

export class Archive implements SessionArchive {
  readonly #host: ArchiveHost
  #timer: Timer | undefined
  /** Ids that an import has, and no session yet. */
  readonly #importing = new Set<string>()

  constructor(host: ArchiveHost) {
    this.#host = host
  }

  async search(query: SearchQuery, within?: SessionBounds, signal?: AbortSignal): Promise<SearchResult> {
    const { sessions, clock } = this.#host
    const { limit = DEFAULT_HITS } = query
    const isReached = sessions.scope(within)
    const all = sessions.all
    const until = clock.now() + SEARCH_MS
    const hits: SearchHit[] = []
    const unreadable: UnreadableEvents[] = []
    const found = (): SearchResult => ({ hits, ...(unreadable.length === 0 ? {} : { unreadable }) })
    for (let at = startOf(all, query.after); at >= 0; at -= 1) {
      const session = descriptorOf(all[at] as CachedSession)
      if (!isReached(session) || !isMeant(session, query)) continue
      const events = await this.#collect(session, query, hits)
      if (events > 0) unreadable.push({ sessionId: session.id, events })
      if (signal?.aborted === true) throw new AgentprotoError('cancelled', 'The search was cancelled by its caller')
      const isFull = hits.length >= limit || unreadable.length >= ARCHIVE_BOUNDS.searchUnreadable
      if (isFull || clock.now() >= until) return { ...found(), ...(at > 0 ? { nextCursor: cursorOf(all, at) } : {}) }
    }
    return found()
  }

  /** Adds the hits of one session. @returns how many of its events could not be searched */
  async #collect(session: Session, { q: text, limit = DEFAULT_HITS }: SearchQuery, hits: SearchHit[]): Promise<number> {
    let events = 0
    const onGap = (gap: EventGap): void => void (events += sizeOfGap(gap))
    try {
      for await (const hit of findIn(session, allEventsOf(session.id, this.#host), { text, onGap })) {
        hits.push(hit)
        if (hits.length >= limit) break
      }
    } catch (error) {
      // A session may be forgotten during the search.
      if (this.#host.sessions.descriptor(session.id) !== undefined) throw error
    }
    return events
  }

  async prune({ olderThanMs, dryRun = false }: PruneRequest, by: Principal): Promise<PruneResult> {
    const { sessions, clock, forget } = this.#host
    const before = clock.now() - olderThanMs
    const pruned: PruneResult['pruned'][number][] = []
    for (const { id } of sessions.all.map(descriptorOf)) {
      // Asked only now: it may have been resumed or forgotten while others were forgotten.
      const session = sessions.descriptor(id)
      if (session === undefined || isLive(session) || endOf(session) >= before) continue
      const forgotten = dryRun ? {} : await forget(id, by)
      pruned.push({ ...lineOf(session), ...forgotten })
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
    const { sessions, keep } = this.#host
    const session = sessions.get(id)
    const findings = await repairSession(session, this.#host, dryRun)
    if (findings.some(({ mended }) => mended)) await keep(session)
    return { id, dryRun, findings }
  }

  async export(id: string, format: ExportFormat): Promise<AsyncIterable<string>> {
    const session = this.#host.sessions.descriptor(id)
    if (session === undefined) throw sessionNotFound(id)
    return exportOf(session, allEventsOf(id, this.#host), { format, now: this.#now() })
  }

  async import(text: AsyncIterable<string>, _by?: Principal, ids?: FleetIds): Promise<Session> {
    const { sessions } = this.#host
    const isHere = (id: string): boolean => sessions.descriptor(id) !== undefined
    const id = new ImportId({ isHere, importing: this.#importing, fleet: ids })
    let isStored = false
    try {
      const session = await this.#stored(text, (given) => id.reserve(given))
      isStored = true
      return session
    } finally {
      await id.end({ isStored })
    }
  }

  async #stored(text: AsyncIterable<string>, reserve: ImportHost['reserve']): Promise<Session> {
    const { sessions, feed, store, logs, newId, hostId, redact } = this.#host
    const stored = await importSession(text, { logs, newId, hostId, reserve, now: this.#now(), ...defined({ redact }) })
    await store.save(stored)
    sessions.put(stored)
    feed.changed(sessions.get(stored.session.id), true)
    return stored.session
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
