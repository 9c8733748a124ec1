import { hostname } from 'node:os'
import { defined } from '@agentproto/contracts'
import type { GatewayInfo } from '@agentproto/contracts/wire'
import type { Fleet } from '@agentproto/fleet'
import type { KeeperInfo } from '@agentproto/keeper'
import type { AgentGuards } from './agent-guards.js'
import type { Settings } from './settings.js'
import { version } from './version.js'

interface Described {
  readonly keeper: KeeperInfo | undefined
  readonly fleet: Fleet | undefined
  readonly guards: Pick<AgentGuards, 'problem'> | undefined
}

/** What this gateway is, for those who administer it. Its start is now. */
export function gatewayInfo(
  { clock, layout, inMemory, sessions }: Settings,
  { keeper, fleet, guards }: Described,
): () => GatewayInfo {
  const startedAt = new Date(clock.now()).toISOString()
  const { session, day, workspaces = {} } = sessions?.budgets ?? {}
  const info: GatewayInfo = {
    version,
    ...(inMemory ? {} : { home: layout.root }),
    startedAt,
    host: hostname(),
    node: process.versions.node,
    platform: process.platform,
    ...defined({ keeper }),
    budgets: { ...defined({ session, day }), workspaces },
  }
  return () => ({
    ...info,
    ...defined({ fleet: fleet && { ...fleet.state, ...defined({ unguarded: guards?.problem }) } }),
  })
}
