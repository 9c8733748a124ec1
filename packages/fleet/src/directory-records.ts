import type { Session } from '@agentproto/contracts'

/** What a host says about itself, with each heartbeat. */
export interface HostRecord {
  readonly host: string
  /** Of agentproto. */
  readonly version: string
  /** Of this run of the gateway: another one means that it was restarted. */
  readonly run: string
  readonly labels: Readonly<Record<string, string>>
  readonly liveSessions: number
  /** How many more it takes. */
  readonly freeSessions: number
  /** Slugs of the adapters whose agent is installed. */
  readonly adapters: readonly string[]
  /** Slugs of its workspaces. */
  readonly workspaces: readonly string[]
  /** Stored events that are not yet in the fleet's log. */
  readonly lag: number
}

/** A session, and whose it is. It is only changed by compare-and-set. */
export interface SessionRecord {
  readonly owner: string
  /** Grows by one with each other owner; a host that has an older one writes nothing of the session any more. */
  readonly epoch: number
  readonly session: Session
  /** Number of the last event in the fleet's log, once the whole log of an ended session is there. */
  readonly complete?: number
}
