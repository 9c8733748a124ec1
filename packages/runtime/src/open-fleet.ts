import { defined } from '@agentproto/contracts'
import type { HostService } from '@agentproto/contracts/wire'
import type { Fleet } from '@agentproto/fleet'
import { type Access, type GatewayRuns, recordRun } from '@agentproto/server'
import { sessionReplay } from '@agentproto/session-registry'
import type { Agents } from './open-agents.js'
import type { Observers } from './observe.js'
import { openHosts } from './open-hosts.js'
import { auditedServices, type Sessions, type SessionServices } from './open-sessions.js'
import type { Settings } from './settings.js'

type Parts = Observers & Agents & Sessions & Pick<Access, 'endOf'>

/** The fleet of a gateway, if it belongs to one, and the hosts that it lists. */
export interface Hosts {
  readonly hosts: HostService
  readonly fleet?: Fleet
  /** For the sessions of all hosts, with audit; absent where there is no fleet. */
  readonly services?: SessionServices
}

/**
 * Without a cluster nothing of NATS is loaded.
 * @throws `cluster_unsupported`, `host_name_in_use`, `path_invalid` and `invalid_request` for what only a person can change
 */
export async function openFleetOf(settings: Settings, parts: Parts): Promise<Hosts> {
  const hosts = openHosts(settings, parts)
  if (settings.fleet === undefined) return { hosts }
  const { openFleet } = await import('@agentproto/fleet')
  const { clock, fleet: options, inMemory, layout } = settings
  const { moves, sessions, permissions, archive, usage, worktrees, changes, unaudited: own, onProblem } = parts
  const { audit, endOf } = parts
  const forOthers = { sessions, permissions, archive, usage, worktrees, changes }
  const shared = { clock, onProblem, own, forOthers, hosts, moves, replay: sessionReplay({ clock }), endOf }
  const runs = inMemory ? undefined : recordRun(layout.fleetRuns, onProblem)
  const fleet = await openFleet({ ...options, ...defined({ runs }), ...shared })
  const services = auditedServices(fleet.services, audit, (id) => fleet.hostOf(id))
  return { hosts: fleet.hosts, fleet: runs === undefined ? fleet : endingRun(fleet, runs), services }
}

/** A gateway that could not say to its fleet that it leaves has said it to the next one of its home. */
const endingRun = (fleet: Fleet, runs: GatewayRuns): Fleet => ({
  services: fleet.services,
  hostOf: (id) => fleet.hostOf(id),
  hosts: fleet.hosts,
  get figures() {
    return fleet.figures
  },
  get state() {
    return fleet.state
  },
  async close(withinMs) {
    await fleet.close(withinMs)
    runs.end()
  },
})
