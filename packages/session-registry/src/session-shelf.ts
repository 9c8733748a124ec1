import { isLive, type Session, type SessionBounds, type StoredSession } from '@agentproto/contracts'
import { ManagedSession } from './managed-session.js'
import { isWithin } from './delegation/reach.js'
import type { SessionHost } from './session-host.js'

/**
 * Every session of a host, in the order of their start. One that has ended and that nobody asks for is its record and
 * nothing else: no log, no timer, no book of turns. It wakes when somebody names it, and rests again when its journal
 * has closed, so that ten thousand old sessions cost what their records cost.
 */
export class SessionShelf {
  readonly #host: SessionHost
  readonly #all = new Map<string, Shelved>()
  /** With the time of their waking, oldest first. */
  readonly #awake = new Map<ManagedSession, number>()

  constructor(host: SessionHost) {
    this.#host = host
  }

  /** Those that are more than their record; every live one is among them. */
  get awake(): readonly ManagedSession[] {
    return [...this.#awake.keys()]
  }

  get live(): readonly ManagedSession[] {
    return this.awake.filter((session) => session.isLive)
  }

  /** Those that a session's agent started, and that live. */
  childrenOf(id: string): readonly ManagedSession[] {
    return this.live.filter((session) => session.snapshot().parentSessionId === id)
  }

  /** Oldest first. */
  get all(): readonly Shelved[] {
    return [...this.#all.values()]
  }

  /** A stored session, as it is; or one that is born now. */
  put(stored: StoredSession): void {
    this.#all.set(stored.session.id, { resting: stored })
  }

  /** The session, awake; undefined when there is none. */
  get(id: string): ManagedSession | undefined {
    const shelved = this.#all.get(id)
    if (shelved === undefined || shelved.awake !== undefined) return shelved?.awake
    const awake = new ManagedSession(this.#host, shelved.resting)
    this.#all.set(id, { awake })
    if (this.#awake.size >= MANY) this.#restOld()
    this.#awake.set(awake, this.#host.clock.now())
    return awake
  }

  /** The session, if it is awake. */
  awakeOne(id: string): ManagedSession | undefined {
    return this.#all.get(id)?.awake
  }

  /** The descriptor of a session, which is not woken for it. */
  descriptor(id: string): Session | undefined {
    const shelved = this.#all.get(id)
    return shelved === undefined ? undefined : descriptorOf(shelved)
  }

  /** Tells which sessions lie within bounds. */
  reached(within: SessionBounds | undefined): (session: Session) => boolean {
    return (session) => isWithin(session, within, (id) => this.descriptor(id))
  }

  delete(session: ManagedSession): void {
    this.#awake.delete(session)
    this.#all.delete(session.id)
  }

  /** Nobody has read the session for a while. */
  rest(id: string): void {
    const session = this.#all.get(id)?.awake
    if (session === undefined || !session.mayRest) return
    this.#awake.delete(session)
    this.#all.set(id, { resting: session.stored() })
  }

  /** Those that were named without being read have no journal whose end would tell. */
  #restOld(): void {
    const before = this.#host.clock.now() - NAMED_MS
    for (const [session, wokenAt] of this.#awake) {
      if (wokenAt > before) return
      if (!session.journal.isOpen) this.rest(session.id)
    }
  }
}

const MANY = 256
/** For this long at least whoever named a session may still be at work on it, in milliseconds. */
const NAMED_MS = 60_000

/** A session on the shelf: awake, or its record. */
export type Shelved =
  | { readonly awake: ManagedSession; readonly resting?: never }
  | { readonly resting: StoredSession; readonly awake?: never }

export function descriptorOf({ awake, resting }: Shelved): Session {
  if (awake !== undefined) return awake.snapshot()
  const { session } = resting
  // Records of older versions do not say it.
  return session.health === undefined && !isLive(session) ? { ...session, health: 'dead' } : session
}

export const idOf = ({ awake, resting }: Shelved): string => (awake === undefined ? resting.session.id : awake.id)
