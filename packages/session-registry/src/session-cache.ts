import { isLive, type PermissionRule, type Session } from '@agentproto/contracts'
import type { StoredSession, StoredWorktree, UsageMeter } from '@agentproto/contracts/agent'
import { isWithinBounds, type SessionBounds } from '@agentproto/contracts/wire'
import { rootOf } from './changes/session-root.js'
import { isRule } from './permissions/file-rule-store.js'
import { isInside } from './permissions/real-path.js'
import { sessionNotFound } from './records/session-id.js'
import { SessionActor } from './session/actor.js'
import { summarised } from './session/state.js'
import type { SessionHost } from './session-host.js'

/**
 * Every session of a host, in the order of their start. An ended session without readers is its record and nothing
 * else: no log, no timer, no turns. It is loaded when a call names it, and evicted when its log has closed, so that ten
 * thousand old sessions cost what their records cost.
 */
export class SessionCache {
  readonly #host: SessionHost
  readonly #all = new Map<string, CachedSession>()
  /** With the time at which they were loaded, oldest first. */
  readonly #loaded = new Map<SessionActor, number>()

  constructor(host: SessionHost) {
    this.#host = host
  }

  /** Those that are more than their record; every live one is among them. */
  get loaded(): readonly SessionActor[] {
    return [...this.#loaded.keys()]
  }

  get live(): readonly SessionActor[] {
    return this.loaded.filter((session) => session.isLive)
  }

  /** Live sessions that a session's agent started. */
  childrenOf(id: string): readonly SessionActor[] {
    return this.live.filter(({ state }) => state.session.parentSessionId === id)
  }

  /** The meters of all sessions that a session's agent started, also through others. */
  metersBelow(id: string): readonly UsageMeter[] {
    const isBelow = this.scope({ under: id })
    return this.all.flatMap((each) => (isBelow(descriptorOf(each)) ? (meterOf(each) ?? []) : []))
  }

  /** Oldest first. */
  get all(): readonly CachedSession[] {
    return [...this.#all.values()]
  }

  /** Adds a stored session, or one that is created now; one that was loaded under its id is not any more. */
  put(stored: StoredSession): void {
    const loaded = this.#all.get(stored.session.id)?.loaded
    if (loaded !== undefined) this.#loaded.delete(loaded)
    this.#all.set(stored.session.id, { evicted: stored })
  }

  /** The session, loaded. @throws `session_not_found` */
  get(id: string): SessionActor {
    const known = this.#all.get(id)
    if (known === undefined) throw sessionNotFound(id)
    if (known.loaded !== undefined) return known.loaded
    const loaded = new SessionActor(this.#host, known.evicted)
    this.#all.set(id, { loaded })
    if (this.#loaded.size >= MANY) this.#evictOld()
    this.#loaded.set(loaded, this.#host.clock.now())
    return loaded
  }

  /** The session, if it is loaded. */
  peek(id: string): SessionActor | undefined {
    return this.#all.get(id)?.loaded
  }

  /** The descriptor of a session, which is not loaded for it. */
  descriptor(id: string): Session | undefined {
    const known = this.#all.get(id)
    return known && descriptorOf(known)
  }

  /** The ids of the sessions that run, or ran, in a worktree. */
  inWorktree(path: string): readonly string[] {
    return [...this.#all].flatMap(([id, cached]) => (worktreeOf(cached)?.path === path ? [id] : []))
  }

  /** The worktree of a session that a folder is in, and the workspace that it counts to. */
  worktreeAt(folder: string): { readonly worktree: StoredWorktree; readonly workspaceSlug: string } | undefined {
    for (const cached of this.#all.values()) {
      const worktree = worktreeOf(cached)
      if (worktree === undefined || !isInside(folder, [worktree.path])) continue
      return { worktree, workspaceSlug: descriptorOf(cached).workspaceSlug }
    }
    return undefined
  }

  /** The ids of all sessions, oldest first. */
  get ids(): readonly string[] {
    return [...this.#all.keys()]
  }

  /** The real path of a session's folder, which is not loaded for it. @throws `session_not_found` */
  root(id: string): string {
    const known = this.#all.get(id)
    if (known === undefined) throw sessionNotFound(id)
    return rootOf(known.loaded === undefined ? known.evicted : known.loaded.state)
  }

  /** The own rules of all sessions, which are not loaded for it; newest session first. */
  ownRules(): readonly { readonly sessionId: string; readonly rule: PermissionRule }[] {
    return [...this.#all].toReversed().flatMap(([sessionId, cached]) => {
      const rules = cached.loaded === undefined ? (cached.evicted.rules ?? []) : cached.loaded.permissions.own
      return rules.filter(isRule).map((rule) => ({ sessionId, rule }))
    })
  }

  /** A test for sessions within bounds. */
  scope(within: SessionBounds | undefined): (session: Session) => boolean {
    return (session) => isWithinBounds(session, within, (id) => this.descriptor(id))
  }

  delete(session: SessionActor): void {
    this.#loaded.delete(session)
    this.#all.delete(session.id)
  }

  /** Keeps only the record of an ended session. */
  evict(id: string): void {
    const session = this.#all.get(id)?.loaded
    if (session === undefined || !session.isEvictable) return
    this.#loaded.delete(session)
    this.#all.set(id, { evicted: session.stored() })
  }

  /** Sessions that were loaded without their log being read have no log whose close would evict them. */
  #evictOld(): void {
    const before = this.#host.clock.now() - IN_USE_MS
    for (const [session, loadedAt] of this.#loaded) {
      if (loadedAt > before) return
      if (!session.log.isOpen) this.evict(session.id)
    }
  }
}

const MANY = 256
/** For this long at least the call that loaded a session may still work on it, in milliseconds. */
const IN_USE_MS = 60_000

/** A session in the cache: loaded, or its record. */
export type CachedSession =
  | { readonly loaded: SessionActor; readonly evicted?: never }
  | { readonly evicted: StoredSession; readonly loaded?: never }

export function descriptorOf({ loaded, evicted }: CachedSession): Session {
  if (loaded !== undefined) return loaded.snapshot()
  const { session } = evicted
  // What is derived may be of another version, or missing.
  return summarised(isLive(session) ? session : { ...session, health: 'dead' })
}

const meterOf = ({ loaded, evicted }: CachedSession): UsageMeter | undefined => loaded?.state.meter ?? evicted?.meter

const worktreeOf = ({ loaded, evicted }: CachedSession): StoredWorktree | undefined =>
  (loaded?.state ?? evicted)?.spawn.worktree

export const idOf = ({ loaded, evicted }: CachedSession): string => loaded?.id ?? evicted?.session.id ?? ''
