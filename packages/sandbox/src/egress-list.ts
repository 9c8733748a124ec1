import { isIP } from 'node:net'
import { isOwnAddress, isOwnName } from './own-host.js'

/** The target of a connection. */
export interface Destination {
  readonly host: string
  readonly port: number
}

/** An address that a destination's name has, and the names of the gateway beside those of the machine. */
export interface Resolved {
  readonly address: string
  readonly ownNames: readonly string[]
}

/**
 * Whether a sandbox may connect to an address for a destination. This machine is reached only if its address or name is listed
 * itself: a subdomain could be one of its names, and the owner of a listed name could point it at this machine.
 */
export function mayConnect(
  list: readonly string[],
  destination: Destination,
  { address, ownNames }: Resolved,
): boolean {
  if (!isListed(list, destination)) return false
  const { host } = destination
  if (isIP(host) !== 0 || !isOwnName(canonical(host), ownNames)) return host === address || !isOwnAddress(address)
  return isListed(
    list.filter((entry) => !entry.startsWith('*.')),
    destination,
  )
}

/**
 * AIP-36 `network.egress`: a host name, `*.` and a host name (its subdomains, not itself), each with or
 * without a port. Pure.
 */
export function isListed(list: readonly string[], { host, port }: Destination): boolean {
  const requested = canonical(host)
  return list.some((entry) => {
    const [, pattern = '', only] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? []
    if (only !== undefined && Number(only) !== port) return false
    const wanted = canonical(pattern)
    if (!wanted.startsWith('*.')) return requested === wanted
    // An address has no subdomains.
    return isIP(requested) === 0 && requested.length > wanted.length - 1 && requested.endsWith(wanted.slice(1))
  })
}

const canonical = (host: string): string => host.toLowerCase().replace(/\.$/, '')
