import { defined, isAgentprotoError, type Timer, toAgentprotoError } from '@agentproto/contracts'
import type { FleetState, HostService } from '@agentproto/contracts/wire'
import { type JoinedFleet, joinFleet } from './join-fleet.js'
import type { FleetFigures, OwnHost } from './own-host.js'
import type { SharedServices } from './calls/places.js'
import { switchedServices } from './services/switched-services.js'

/** A gateway and its fleet, also while it has not joined it yet. */
export interface Fleet {
  /** Of all hosts; of this one alone until the fleet was joined. */
  readonly services: SharedServices
  /** The other host that has a session; undefined for one of this host, and for one that is not known. */
  hostOf(sessionId: string): string | undefined
  readonly hosts: HostService
  /** Undefined until the fleet was joined. */
  readonly figures: FleetFigures | undefined
  readonly state: FleetState
  /** Publishes what is left, for at most so many milliseconds, then leaves. Idempotent. */
  close(withinMs: number): Promise<void>
}

/** From one attempt to join to the next, in milliseconds. */
const RETRY_MS = 2_000

/**
 * Joins a fleet. A gateway that cannot reach NATS is alone, reports it, and joins when it can.
 * @throws `cluster_unsupported`, `host_name_in_use`, `path_invalid` and `invalid_request` for what only a person can change
 */
export async function openFleet(options: OwnHost): Promise<Fleet> {
  const fleet = new JoiningFleet(options)
  await fleet.join()
  return fleet
}

class JoiningFleet implements Fleet {
  readonly services: SharedServices
  readonly hosts: HostService
  readonly #options: OwnHost
  #joined: JoinedFleet | undefined
  #retry: Timer | undefined
  #joining: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #problem: string | undefined

  constructor(options: OwnHost) {
    const { own, hosts } = options
    this.#options = options
    this.services = switchedServices(own, () => this.#joined?.services)
    this.hosts = { list: () => (this.#joined?.hosts ?? hosts).list() }
  }

  get figures(): FleetFigures | undefined {
    return this.#joined?.figures
  }

  get state(): FleetState {
    const { isJoined = false, lag = 0 } = this.figures ?? {}
    const problem = this.#joined === undefined ? this.#problem : undefined
    return { host: this.#options.host, joined: isJoined, lag, ...defined({ problem }), ...this.#joined?.state }
  }

  hostOf(sessionId: string): string | undefined {
    return this.#joined?.services.hostOf(sessionId)
  }

  /** @throws an error that another attempt does not change */
  async join(): Promise<void> {
    try {
      const joined = await joinFleet(this.#options)
      if (this.#closing !== undefined) return await joined.close(0)
      this.#joined = joined
      if (this.#problem !== undefined) this.#options.onProblem('The fleet is joined.')
    } catch (thrown) {
      if (!isAgentprotoError(thrown) || !thrown.row.retryable) throw thrown
      this.#later(thrown.message)
    }
  }

  async close(withinMs: number): Promise<void> {
    this.#closing ??= this.#leave(withinMs)
    return this.#closing
  }

  async #leave(withinMs: number): Promise<void> {
    this.#retry?.cancel()
    await this.#joining
    const joined = this.#joined
    this.#joined = undefined
    await joined?.close(withinMs)
  }

  /** The same problem is reported once. */
  #later(problem: string): void {
    if (this.#closing !== undefined) return
    const { clock, onProblem } = this.#options
    if (problem !== this.#problem) onProblem(`This gateway is alone, and tries to join its fleet: ${problem}`)
    this.#problem = problem
    this.#retry = clock.after(RETRY_MS, () => {
      // What only a person can change may be changed meanwhile: a running gateway tries again.
      this.#joining = this.join().catch((thrown: unknown) => this.#later(toAgentprotoError(thrown).message))
    })
  }
}
