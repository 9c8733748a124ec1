import { BlockList, isIP } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'

/** Loopback, link-local, and "this host" (RFC 1122). */
const OWN_IPV4 = [
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['0.0.0.0', 8],
] as const

/** Where clouds serve credentials to a machine, beside link-local addresses. */
const METADATA_IPV4 = ['100.100.100.200', '168.63.129.16', '192.0.0.192'] as const
const METADATA_IPV6 = ['fd00:ec2::254', 'fd20:ce::254'] as const

/** Prefixes of 96 bits before an IPv4 address: mapped, compatible, translated (RFC 2765), NAT64 (RFC 6052, RFC 8215). */
const EMBEDDING = ['::ffff:', '::', '::ffff:0:', '64:ff9b::', '64:ff9b:1::'] as const

const FIXED = new BlockList()
for (const [net, bits] of OWN_IPV4) addIpv4(FIXED, net, bits)
for (const address of METADATA_IPV4) addIpv4(FIXED, address, 32)
for (const address of METADATA_IPV6) FIXED.addAddress(address, 'ipv6')
FIXED.addSubnet('::', 127, 'ipv6')
FIXED.addSubnet('fe80::', 10, 'ipv6')
FIXED.addSubnet('fec0::', 10, 'ipv6')

/**
 * Whether an address is this machine's own, link-local, or one where clouds serve credentials, also as an IPv4 address within
 * an IPv6 address. What is not an address is treated as its own.
 */
export function isOwnAddress(address: string): boolean {
  if (isIP(address) === 0) return true
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  const [plain = ''] = address.split('%')
  return FIXED.check(plain, family) || interfaceList().check(plain, family)
}

/**
 * Whether a name is this machine's or its gateway's.
 * @param name In lower case, without a last dot
 * @param gateway Names of the gateway, each with or without a port
 */
export function isOwnName(name: string, gateway: readonly string[]): boolean {
  const machine = hostname().toLowerCase()
  if (name === 'localhost' || name === machine || machine.startsWith(`${name}.`)) return true
  return gateway.some((each) => each.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '') === name)
}

/** Read each time: addresses change. */
function interfaceList(): BlockList {
  const list = new BlockList()
  for (const { address, family } of Object.values(networkInterfaces()).flatMap((each) => each ?? [])) {
    if (family === 'IPv4') addIpv4(list, address, 32)
    else list.addAddress(address.split('%')[0] ?? address, 'ipv6')
  }
  return list
}

/** Adds an IPv4 subnet, and all that reach it within IPv6. */
function addIpv4(list: BlockList, net: string, bits: number): void {
  list.addSubnet(net, bits, 'ipv4')
  for (const prefix of EMBEDDING) list.addSubnet(`${prefix}${net}`, 96 + bits, 'ipv6')
  // 6to4 (RFC 3056).
  const [a = 0, b = 0, c = 0, d = 0] = net.split('.').map(Number)
  list.addSubnet(`2002:${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}::`, 16 + bits, 'ipv6')
}
