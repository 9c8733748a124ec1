import type { Clock } from '@agentproto/contracts'
import type { Host, HostService, Services } from '@agentproto/contracts/wire'

export interface OwnHostOptions extends Pick<Services, 'sessions' | 'adapters' | 'workspaces'> {
  readonly name: string
  /** Of agentproto. */
  readonly version: string
  readonly labels: Readonly<Record<string, string>>
  /** How many live sessions it takes. */
  readonly maxSessions: number
  readonly clock: Clock
}

/** The only host of a gateway that belongs to no fleet. */
export const ownHost = (options: OwnHostOptions): HostService => ({ list: async () => [await describeHost(options)] })

/** What a host says about itself. Nothing is behind: no other host reads its logs. */
async function describeHost(options: OwnHostOptions): Promise<Host> {
  const { name, version, labels, maxSessions, clock } = options
  const [{ sessions }, adapters, { workspaces }] = await Promise.all([
    options.sessions.list({ onlyAlive: true }),
    options.adapters.list(),
    options.workspaces.list(),
  ])
  return {
    name,
    self: true,
    reachable: true,
    version,
    labels,
    liveSessions: sessions.length,
    freeSessions: Math.max(0, maxSessions - sessions.length),
    adapters: adapters.filter(({ installed }) => installed).map(({ slug }) => slug),
    workspaces: workspaces.map(({ slug }) => slug),
    lag: 0,
    lastSeen: new Date(clock.now()).toISOString(),
  }
}
