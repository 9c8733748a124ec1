import { BlockList, isIP } from 'node:net'

/** The target of a connection. */
export interface Destination {
  readonly host: string
  readonly port: number
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

const THIS_HOST = new BlockList()
for (const [net, bits] of [
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['0.0.0.0', 8],
] as const) {
  THIS_HOST.addSubnet(net, bits, 'ipv4')
  THIS_HOST.addSubnet(`::ffff:${net}`, 96 + bits, 'ipv6')
}
THIS_HOST.addSubnet('::', 127, 'ipv6')
THIS_HOST.addSubnet('fe80::', 10, 'ipv6')

/** Whether an address is this machine's own or link-local, where clouds serve credentials. */
export const isThisHost = (address: string): boolean => THIS_HOST.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
