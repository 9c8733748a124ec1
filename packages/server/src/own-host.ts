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
export interface OwnHostService extends HostService {
  /** As `list`, for who asks every few seconds: its adapters may be those of a while ago. */
  recent(): Promise<readonly Host[]>
}

/**
 * So old may the adapters be, in milliseconds: to find which agents are installed, every folder of PATH is looked into for each. At
 * every heartbeat that was a third of what an idle gateway of a fleet took of the processor.
 */
const ADAPTERS_MS = 15_000

export function ownHost(options: OwnHostOptions): OwnHostService {
  const adapters = new InstalledAdapters(options)
  return {
    list: async () => [await describeHost(options, adapters.read())],
    recent: async () => [await describeHost(options, adapters.recent())],
  }
}

/** Slugs of the adapters whose agent is installed. */
class InstalledAdapters {
  readonly #options: Pick<OwnHostOptions, 'adapters' | 'clock'>
  #known: readonly string[] = []
  #readAt = Number.NEGATIVE_INFINITY

  constructor(options: Pick<OwnHostOptions, 'adapters' | 'clock'>) {
    this.#options = options
  }

  async read(): Promise<readonly string[]> {
    const { adapters, clock } = this.#options
    const at = clock.now()
    this.#known = (await adapters.list()).filter(({ installed }) => installed).map(({ slug }) => slug)
    this.#readAt = at
    return this.#known
  }

  async recent(): Promise<readonly string[]> {
    const age = this.#options.clock.now() - this.#readAt
    // The clock may have been set back.
    return age >= 0 && age < ADAPTERS_MS ? this.#known : this.read()
  }
}

/** What a host says about itself. Nothing is behind: no other host reads its logs. */
async function describeHost(options: OwnHostOptions, installed: Promise<readonly string[]>): Promise<Host> {
  const { name, version, labels, maxSessions, clock } = options
  const [{ sessions }, adapters, { workspaces }] = await Promise.all([
    options.sessions.list({ onlyAlive: true }),
    installed,
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
    adapters,
    workspaces: workspaces.map(({ slug }) => slug),
    lag: 0,
    lastSeen: new Date(clock.now()).toISOString(),
  }
}
