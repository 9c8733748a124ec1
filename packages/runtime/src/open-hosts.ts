import { ownHost, type OwnHostService } from '@agentproto/server'
import { DEFAULT_REGISTRY_CONFIG } from '@agentproto/session-registry'
import { hostNameOf } from './fleet-settings.js'
import type { Agents } from './open-agents.js'
import type { Sessions } from './open-sessions.js'
import type { Settings } from './settings.js'
import { version } from './version.js'

/** This host alone. */
export function openHosts(settings: Settings, { sessions, adapters, workspaces }: Agents & Sessions): OwnHostService {
  const { clock, fleet, sessions: config } = settings
  const { maxSessions } = { ...DEFAULT_REGISTRY_CONFIG, ...config }
  return ownHost({
    name: hostNameOf(settings),
    version,
    labels: fleet?.labels ?? {},
    maxSessions,
    sessions,
    adapters,
    workspaces,
    clock,
  })
}
