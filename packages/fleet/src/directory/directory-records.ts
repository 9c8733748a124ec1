import type { Session } from '@agentproto/contracts'
import type { MovedSettings } from '@agentproto/contracts/agent'

/** What a host says about itself. */
export interface HostDetails {
  /** Of agentproto. */
  readonly version: string
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

/** A heartbeat of a host. */
export interface HostRecord extends HostDetails {
  readonly host: string
  /** Of this run of the gateway: another one means that it was restarted. */
  readonly run: string
  /** Of this stay in the fleet: another one after each loss of its lease. */
  readonly term: string
  /** By the clock of the host, in milliseconds since the epoch. An older gateway does not say it. */
  readonly sentAt?: number
}

/** Takes the place of the heartbeat of a host that was not heard from: its term has ended, whatever it believes. */
export interface HostEviction {
  readonly host: string
  /** The host that wrote it. */
  readonly evictedBy: string
  /** Whether the evicted host cannot believe any more that it has its lease. */
  readonly lapsed: boolean
}

/** A session, and whose it is. It is only changed by compare-and-set. */
export interface SessionRecord {
  readonly owner: string
  /** Grows by one with each other owner; a host that has an older one writes nothing of the session any more. */
  readonly epoch: number
  /** The term of its owner in which the owner has last confirmed that the session is its own. */
  readonly term: string
  /** Its policy for the loss of its host is `onHostLoss`. */
  readonly session: Session
  /** What another host needs to go on with it, checked by the one that uses it; only where the policy is `move`. */
  readonly settings?: MovedSettings
  /** Number of the last event in the fleet's log, once the whole log of an ended session is there. */
  readonly complete?: number
}
