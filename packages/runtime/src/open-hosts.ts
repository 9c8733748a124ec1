import { hostname } from 'node:os'
import type { HostService } from '@agentproto/contracts/wire'
import { ownHost } from '@agentproto/server'
import { DEFAULT_REGISTRY_CONFIG } from '@agentproto/session-registry'
import type { Agents } from './open-agents.js'
import type { Sessions } from './open-sessions.js'
import type { Settings } from './settings.js'
import { version } from './version.js'

/** The hosts that a gateway lists. */
export function openHosts(
  { clock, sessions: config }: Settings,
  { sessions, adapters, workspaces }: Agents & Sessions,
): HostService {
  const { maxSessions } = { ...DEFAULT_REGISTRY_CONFIG, ...config }
  return ownHost({ name: hostname(), version, labels: {}, maxSessions, sessions, adapters, workspaces, clock })
}
