import type { Clock, Principal } from '@agentproto/contracts'
import type { EventBatch, SessionReplay } from '@agentproto/contracts/agent'
import type { EventReader, FleetIds, Reader, SpawnAgentRequest } from '@agentproto/contracts/wire'
import type { Caller } from '../calls/caller.js'
import type { SessionRecord } from '../directory/directory-records.js'
import type { SharedServices } from '../calls/places.js'

/** What the services of a fleet know of it: the watched copy of the directory. Every answer is immediate. */
export interface FleetView {
  session(id: string): SessionRecord | undefined
  sessions(): Iterable<SessionRecord>
  /** Names of all hosts that are known or have sessions, also of those that are not heard from. */
  hosts(): readonly string[]
  isReachable(host: string): boolean
  /** Ids of sessions whose record changed, was added or was removed; and of all sessions of a host that came or went. */
  watch(): Reader<readonly string[]>
}

/** The fleet's log: events of every session, also of one whose host is gone. */
export interface LogOfAll {
  read(id: string, after: number, limit: number): Promise<EventBatch>
  /** All that is there now. */
  batches(id: string, after: number): AsyncIterable<EventBatch>
  /** Number of the last event; 0 for none. */
  lastSeq(id: string): Promise<number>
  follow(id: string, after: number): EventReader
}

export interface FleetServicesOptions {
  /** The name of this host. */
  readonly host: string
  /** The services of this host, as its own callers have them: with hooks and audit. */
  readonly own: SharedServices
  readonly view: FleetView
  readonly calls: Caller
  readonly clock: Clock
  readonly log: LogOfAll
  /** What the log alone says of a session whose host is away. */
  readonly replay: SessionReplay
  /** A signal that aborts when the token of a caller ends: what other hosts have not begun for it then, is not begun. */
  readonly endOf?: ((by: Principal) => AbortSignal | undefined) | undefined
  /** Which ids are free on all hosts. Without it each import gets a new one. */
  readonly ids?: FleetIds
  /** Chooses the host of a new session; without it this host. @throws `placement_refused` */
  readonly place?: (request: SpawnAgentRequest, by: Principal) => Promise<string>
}

/**
 * The services of a fleet: they answer for the sessions of every host, and are used in the place of the host's own. Adapters,
 * workspaces, tokens, logins and notifications are always those of this host.
 */
export interface FleetServices extends SharedServices {
  /** The other host that has a session; undefined for one of this host, and for one that is not known. */
  readonly hostOf: (sessionId: string) => string | undefined
}
