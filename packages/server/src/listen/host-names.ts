import { hostname, networkInterfaces } from 'node:os'
import type { Clock } from '@agentproto/contracts'

/** Addresses are looked up at most this often. */
const LOOKUP_MS = 1_000

/**
 * The names and addresses under which a gateway that listens beyond loopback is reached. A web page that reaches it through a
 * name of its own (DNS rebinding) has another Host.
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

  /** @param host The address that a listener is bound to: a name, an address, or a wildcard */
  add(host: string): void {
    if (isWildcard(host)) this.#onAll = true
    else this.#listened.add(asInUrl(host))
  }

  /** @param name In lower case, without a port; an IPv6 address in brackets */
  has(name: string): boolean {
    if (this.#listened.has(name) || (this.#onAll && this.#known.has(name))) return true
    // Addresses change; but requests with a foreign Host must not cause a lookup each.
    if (!this.#onAll || this.#clock.now() - this.#readAt < LOOKUP_MS) return false
    this.#readAt = this.#clock.now()
    this.#known = namesOfMachine()
    return this.#known.has(name)
  }
}

/** Whether it means all addresses of the machine. */
export const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::'

/** A host as it is written in a URL. */
export const asInUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host).toLowerCase()

function namesOfMachine(): ReadonlySet<string> {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return new Set([hostname().toLowerCase(), ...addresses.map(({ address }) => asInUrl(address))])
}
