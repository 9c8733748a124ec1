import { lookup as resolveName } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { AgentprotoError } from '@agentproto/contracts'
import type { AddressReach } from '@agentproto/contracts/agent'

/** What a host allows of the addresses of agents. */
export interface EndpointRules {
  /** `host:port` of those that may be on this machine or in a private network; asked at each connect. Default: none. */
  readonly privateEndpoints?: () => Promise<readonly string[]>
  /** The addresses of a name. Default: those of the system. */
  readonly resolve?: (name: string) => Promise<readonly string[]>
}

/** Where an endpoint leads, after it was checked. */
export interface CheckedEndpoint {
  readonly addresses: readonly string[]
  /** Gives the checked addresses to the socket: a second answer of the name server may be another. */
  readonly lookup: LookupFunction
}

/**
 * Resolves the host of an endpoint and checks each of its addresses. Not encrypted, or on this machine or in a private network, it
 * needs the owner's consent; and what is not encrypted never leaves such a network.
 * @throws `endpoint_not_allowed`; what the resolver throws for a name that it does not find
 */
export async function guardEndpoint(address: string, rules: EndpointRules): Promise<CheckedEndpoint> {
  const url = new URL(address)
  const place = endpointPlace(url)
  const { privateEndpoints = async () => [], resolve = systemAddresses } = rules
  const consented = new Set((await privateEndpoints()).map(consentedPlace))
  const isConsented = consented.has(place)
  const isPlain = url.protocol !== 'wss:'
  if (isPlain && !isConsented) throw notAllowed(place, 'ws:// is not encrypted')
  const host = hostOf(url)
  const addresses = isIP(host) === 0 ? await resolve(host) : [host]
  if (addresses.length === 0) throw new Error(`${host} has no address`)
  const addressReach = await loadAddressReach()
  for (const each of addresses) checkReach(each, addressReach(each), { place, isPlain, isConsented })
  return { addresses, lookup: lookupOf(host, addresses) }
}

/** The rule for addresses, for all to which a host connects at the word of its owner. */
export const loadAddressReach = async (): Promise<(address: string) => AddressReach> =>
  (await import('@agentproto/sandbox')).addressReach

interface Place {
  readonly place: string
  readonly isPlain: boolean
  readonly isConsented: boolean
}

function checkReach(address: string, reach: AddressReach, { place, isPlain, isConsented }: Place): void {
  if (reach === 'none') throw notAllowed(place, `${address} is no address of a server`, UNUSABLE)
  if (reach === 'credentials') throw notAllowed(place, `${address} serves credentials to this machine`, UNUSABLE)
  if (reach === 'private' && !isConsented)
    throw notAllowed(place, `${address} is on this machine or in a private network`)
  if (reach === 'public' && isPlain)
    throw notAllowed(place, `${address} is reached over a public network without encryption`, ENCRYPT)
}

/** `host:port`, as the owner consents to it. */
export const endpointPlace = (url: URL): string =>
  `${url.hostname.replace(/\.$/, '')}:${url.port || (url.protocol === 'wss:' ? '443' : '80')}`

/** A consent in the notation of URLs: `[::1]:80`, `127.0.0.1:80` for `127.1:80`; empty for what names no place. */
export function consentedPlace(text: string): string {
  // With a port that no scheme omits.
  const url = URL.canParse(`wss://${text}`) ? new URL(`wss://${text}`) : undefined
  return url === undefined || url.pathname !== '/' || url.username !== '' ? '' : endpointPlace(url)
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1')

const systemAddresses = async (name: string): Promise<readonly string[]> =>
  (await resolveName(name, { all: true })).map(({ address }) => address)

function lookupOf(host: string, addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (name, options, callback) => {
    const wanted = all.filter(({ family }) => !FAMILIES.has(options.family) || options.family === family)
    const [first] = name === host ? wanted : []
    // Later, as the system answers: a socket is not ready for an answer before it has asked.
    process.nextTick(() => {
      if (first === undefined) callback(new Error(`${name} has no address that was checked`), '')
      else if (options.all === true) callback(null, wanted)
      else callback(null, first.address, first.family)
    })
  }
}

const FAMILIES: ReadonlySet<unknown> = new Set([4, 6])

const CONSENT =
  'As the owner, consent to it: agentproto adapters add <url> --as <slug> --allow-private, or endpoints.private in config.json'
const ENCRYPT = 'Use wss://, or an address in a private network'
const UNUSABLE = 'Use another address'

const notAllowed = (place: string, why: string, hint = CONSENT): AgentprotoError =>
  new AgentprotoError('endpoint_not_allowed', `The agent may not be reached: ${why}`, {
    expected: 'wss:// at a public address, or one of endpoints.private in config.json',
    given: place,
    hint,
    data: { place },
  })
