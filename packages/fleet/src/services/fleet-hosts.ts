import { type Clock, defined } from '@agentproto/contracts'
import type { Host, HostService } from '@agentproto/contracts/wire'
import type { HostDetails } from '../directory/directory-records.js'
import type { HostDirectory } from '../directory/host-directory.js'
import type { KnownHost } from '../directory/known-hosts.js'
import type { OwnHost } from '../own-host.js'

export interface FleetHostsOptions {
  readonly directory: Pick<HostDirectory, 'hosts' | 'clocks'>
  /** This host as it is now. */
  readonly own: () => Promise<Host>
}

/** The hosts of a fleet: this one as it is now, the others as they last reported. */
export const fleetHosts = ({ directory, own }: FleetHostsOptions): HostService => ({
  async list() {
    const self = await own()
    const others = directory.hosts().filter(({ isSelf }) => !isSelf)
    return [self, ...others.map((host) => hostOf(host, directory.clocks.aheadMs(host.record.host)))].toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    )
  },
})

function hostOf({ record, lastSeen, isReachable, hasLeft }: KnownHost, clockAheadMs: number | undefined): Host {
  const { host: name, version, labels, liveSessions, freeSessions, adapters, workspaces, lag } = record
  const details = { version, labels, liveSessions, freeSessions, adapters, workspaces, lag }
  return {
    name,
    reachable: isReachable,
    ...(hasLeft && { stopped: true }),
    ...details,
    lastSeen: new Date(lastSeen).toISOString(),
    ...defined({ clockAheadMs }),
  }
}

export interface OwnDetailsOptions extends Pick<OwnHost, 'hosts'> {
  readonly lag: () => number
  readonly clock: Clock
  readonly onProblem: (problem: string) => void
}

/** What this host says about itself. A heartbeat waits for nothing: it has what was read before it. */
export class OwnDetails {
  readonly #options: OwnDetailsOptions
  #latest: Host
  #isReading = false

  private constructor(options: OwnDetailsOptions, latest: Host) {
    this.#options = options
    this.#latest = latest
  }

  static async read(options: OwnDetailsOptions): Promise<OwnDetails> {
    return new OwnDetails(options, only(await options.hosts.list()))
  }

  /** For a heartbeat; what the next one says is read meanwhile. */
  readonly forHeartbeat = (): HostDetails => {
    void this.#readAgain()
    const { version, labels, liveSessions, freeSessions, adapters, workspaces } = this.#latest
    return { version, labels, liveSessions, freeSessions, adapters, workspaces, lag: this.#options.lag() }
  }

  /** As it is now. */
  readonly now = async (): Promise<Host> => {
    this.#latest = only(await this.#options.hosts.list())
    return { ...this.#latest, lag: this.#options.lag() }
  }

  async #readAgain(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    try {
      this.#latest = only(await this.#options.hosts.recent())
    } catch (thrown) {
      this.#options.onProblem(
        `What this host has cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
      )
    } finally {
      this.#isReading = false
    }
  }
}

function only([host]: readonly Host[]): Host {
  if (host === undefined) throw new Error('This host does not list itself')
  return host
}
