import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { isOwnAddress } from './own-host.js'

/** `private`: this machine, or a network that others do not reach. `none`: no address of a server. */
export type AddressReach = 'public' | 'private' | 'none'

const PRIVATE: ReadonlySet<string> = new Set(['private', 'uniqueLocal', 'carrierGradeNat'])

/** From where a server with an address is reached; an IPv4 address within an IPv6 address (mapped, or by NAT64) counts as itself. */
export function addressReach(text: string): AddressReach {
  const [plain = ''] = text.split('%')
  // Only the form that the system resolves to: no octal, decimal or short forms.
  if (isIP(plain) === 0) return 'none'
  if (isOwnAddress(text)) return 'private'
  const address = carriedAddress(ipaddr.process(plain))
  const range = address.range()
  if (PRIVATE.has(range)) return 'private'
  return range === 'unicast' && isGlobal(address) ? 'public' : 'none'
}

const carriedAddress = (address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 =>
  address.range() === 'rfc6052' ? new ipaddr.IPv4(address.toByteArray().slice(-4)) : address

/** RFC 4291: of what the library calls unicast, only 2000::/3 is assigned. */
const isGlobal = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  address.kind() === 'ipv4' || ((address.toByteArray()[0] ?? 0) & 0xe0) === 0x20
