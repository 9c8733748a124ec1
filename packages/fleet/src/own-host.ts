import type { Principal } from '@agentproto/contracts'
import type { SessionMoves, SessionReplay } from '@agentproto/contracts/agent'
import type { Host, HostService } from '@agentproto/contracts/wire'
import type { SharedServices } from './calls/places.js'
import type { FleetOptions } from './fleet-options.js'

/** What a host says about itself. */
interface HostItself extends HostService {
  /** As `list`, for a heartbeat: what takes long to find may be that of a while ago. */
  recent(): Promise<readonly Host[]>
}

/** What a gateway brings into its fleet. */
export interface OwnHost extends FleetOptions {
  /** The name of this host. */
  readonly host: string
  /** The services of this host, with hooks. What its own callers do is audited around the services of the fleet. */
  readonly own: SharedServices
  /** The same with audit: what other hosts ask for. */
  readonly forOthers: SharedServices
  /** A signal that aborts when the token of a caller ends. */
  readonly endOf?: (by: Principal) => AbortSignal | undefined
  /** This host alone. */
  readonly hosts: HostItself
  /** What it does so that sessions can go on elsewhere. None that may be moved runs here before the fleet says so. */
  readonly moves: SessionMoves
  /** How it answers for sessions of a host that is away. */
  readonly replay: SessionReplay
}

/** Since the fleet was joined. */
export interface FleetFigures {
  /** Stored events that other hosts cannot read yet. */
  readonly lag: number
  /** Whether this host has its lease now. */
  readonly isJoined: boolean
  readonly hosts: { readonly reachable: number; readonly unreachable: number; readonly stopped: number }
  /** Calls that this host has sent to others. */
  readonly forwarded: number
  /** Sessions that another host has taken over. */
  readonly fenced: number
}
