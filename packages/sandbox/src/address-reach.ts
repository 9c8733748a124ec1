import { isIP } from 'node:net'
import type { AddressReach } from '@agentproto/contracts/agent'
import ipaddr from 'ipaddr.js'
import { isOwnAddress } from './own-host.js'

/** Where clouds serve credentials to a machine, outside of the link-local addresses, which are no address of a server. */
const METADATA: ReadonlySet<string> = new Set([
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd20:ce::254',
])

const PRIVATE: ReadonlySet<string> = new Set(['loopback', 'private', 'uniqueLocal', 'carrierGradeNat'])

/**
 * From where a server with an address is reached: the one rule for all to which a gateway connects at the word of its owner. An IPv4
 * address within an IPv6 address (mapped, or by NAT64) counts as itself.
 */
export function addressReach(text: string): AddressReach {
  const [plain = ''] = text.split('%')
  // Only the form that the system resolves to: no octal, decimal or short forms.
  if (isIP(plain) === 0) return 'none'
  const address = carriedAddress(ipaddr.process(plain))
  const range = address.range()
  if (METADATA.has(address.toString())) return 'credentials'
  if (PRIVATE.has(range)) return 'private'
  if (range !== 'unicast' || !isGlobal(address)) return 'none'
  // A public address may be that of this machine.
  return isOwnAddress(text) ? 'private' : 'public'
}

const carriedAddress = (address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 =>
  address.range() === 'rfc6052' ? new ipaddr.IPv4(address.toByteArray().slice(-4)) : address

/** RFC 4291: of what the library calls unicast, only 2000::/3 is assigned. */
const isGlobal = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  address.kind() === 'ipv4' || ((address.toByteArray()[0] ?? 0) & 0xe0) === 0x20
