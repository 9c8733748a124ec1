import ipaddr from 'ipaddr.js'

export interface AddressRules {
  /** The owner allows this machine and private networks. */
  readonly allowPrivate: boolean
  /** Only this machine and private networks: nothing is encrypted. */
  readonly isPlain: boolean
}

/** Where clouds serve credentials to a machine, outside of the link-local addresses. */
const METADATA: ReadonlySet<string> = new Set([
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd20:ce::254',
])

const PRIVATE: ReadonlySet<string> = new Set(['loopback', 'private', 'uniqueLocal', 'carrierGradeNat'])

/** Why no webhook may be sent to an address; undefined if it may. */
export function addressProblem(text: string, { allowPrivate, isPlain }: AddressRules): string | undefined {
  const address = plainAddress(text)
  if (address === undefined) return `${text} is not an address`
  const range = address.range()
  if (METADATA.has(address.toString())) return `${text} serves credentials to this machine`
  if (PRIVATE.has(range))
    return allowPrivate ? undefined : `${text} is on this machine or in a private network, and allowPrivate is not set`
  if (range !== 'unicast' || !isGlobal(address)) return `${text} is no address of a server`
  return isPlain ? `${text} is reached over a public network, which needs https` : undefined
}

/** RFC 4291: of what the library calls unicast, only 2000::/3 is assigned. */
const isGlobal = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  address.kind() === 'ipv4' || ((address.toByteArray()[0] ?? 0) & 0xe0) === 0x20

/** An IPv4 address within an IPv6 address (mapped, or translated by NAT64) counts as itself. */
function plainAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const [plain = ''] = text.split('%')
  // Only the form that the system resolves to: no octal or short forms.
  if (!ipaddr.IPv4.isValidFourPartDecimal(plain) && !ipaddr.IPv6.isValid(plain)) return undefined
  const address = ipaddr.process(plain)
  if (address.kind() === 'ipv4' || address.range() !== 'rfc6052') return address
  return new ipaddr.IPv4(address.toByteArray().slice(-4))
}
