import type { HostService } from '@agentproto/contracts/wire'
import type { Fleet } from '@agentproto/fleet'
import { sessionReplay } from '@agentproto/session-registry'
import type { Agents } from './open-agents.js'
import type { Observers } from './observe.js'
import { openHosts } from './open-hosts.js'
import type { Sessions } from './open-sessions.js'
import type { Settings } from './settings.js'

/** The fleet of a gateway, if it belongs to one, and the hosts that it lists. */
export interface Hosts {
  readonly hosts: HostService
  readonly fleet?: Fleet
}

/**
 * Without a cluster nothing of NATS is loaded.
 * @throws `cluster_unsupported`, `host_name_in_use`, `path_invalid` and `invalid_request` for what only a person can change
 */
export async function openFleetOf(settings: Settings, parts: Observers & Agents & Sessions): Promise<Hosts> {
  const hosts = openHosts(settings, parts)
  if (settings.fleet === undefined) return { hosts }
  const { openFleet } = await import('@agentproto/fleet')
  const { clock, fleet: options } = settings
  const { moves, sessions, permissions, archive, usage, worktrees, changes, onProblem } = parts
  const own = { sessions, permissions, archive, usage, worktrees, changes }
  const replay = sessionReplay({ clock })
  const fleet = await openFleet({ ...options, clock, onProblem, own, hosts, moves, replay })
  return { hosts: fleet.hosts, fleet }
}
