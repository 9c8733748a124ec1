import { hostname, networkInterfaces } from 'node:os'
import type { Clock } from '@agentproto/contracts'

const LOOK_MS = 1_000

/**
 * The names and addresses that this machine is reached by where a gateway listens beyond loopback. A page that was led
 * here by a name of its own (DNS rebinding) has another in its Host.
 */
export class HostNames {
  readonly #clock: Clock
  readonly #listened = new Set<string>()
  #onAll = false
  #known: ReadonlySet<string> = new Set()
  #readAt = -Infinity

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @param host What is listened on: a name, an address, or all addresses */
  add(host: string): void {
    if (isWildcard(host)) this.#onAll = true
    else this.#listened.add(asInUrl(host))
  }

  /** @param name In lower case, without a port; an IPv6 address in brackets */
  has(name: string): boolean {
    if (this.#listened.has(name) || (this.#onAll && this.#known.has(name))) return true
    // Addresses come and go; a stranger's Host must not have them looked up for each request.
    if (!this.#onAll || this.#clock.now() - this.#readAt < LOOK_MS) return false
    this.#readAt = this.#clock.now()
    this.#known = namesOfMachine()
    return this.#known.has(name)
  }
}

/** All addresses of the machine. */
export const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::'

/** A host as it stands in a URL. */
export const asInUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host).toLowerCase()

function namesOfMachine(): ReadonlySet<string> {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return new Set([hostname().toLowerCase(), ...addresses.map(({ address }) => asInUrl(address))])
}
