import { AgentprotoError, asRecord, isRecord } from '@agentproto/contracts'
import type { LookupFunction } from 'node:net'

/** An agent that runs elsewhere and is reached by its address. */
export interface RemoteEndpoint {
  /** `ws:` or `wss:`. */
  readonly url: string
  /** The secrets that the headers are made of, for what is said when the endpoint refuses them. */
  readonly secrets?: readonly string[]
  /**
   * Called before each connect: the headers with their secrets as they are now, and the look-up of the host's name, which refuses
   * addresses that may not be reached. It must also check a host that is an address, because nothing looks that one up.
   * @throws An `AgentprotoError` for what another attempt does not change; anything else is tried again where a connection was lost
   */
  connect(): Promise<EndpointAccess>
}

export interface EndpointAccess {
  readonly headers: Readonly<Record<string, string>>
  /** Used for the socket itself, so that the address that was checked is the one that is connected to. */
  readonly lookup?: LookupFunction
}

/** What the arm gets of a manifest. */
export interface AcpArmProfile {
  /** Where the agent says its tokens if not in `usage` (`metadata.agentproto.usage`). */
  readonly usage?: unknown
  /** Present for an agent that is reached over the network: nothing is launched. */
  readonly endpoint?: RemoteEndpoint
}

/** The endpoint of a profile; undefined for an agent that is a process. @throws `manifest_invalid` */
export function endpointOf(profile: unknown): RemoteEndpoint | undefined {
  const { endpoint } = asRecord(profile)
  if (endpoint === undefined) return undefined
  if (isEndpoint(endpoint)) return endpoint
  throw new AgentprotoError('manifest_invalid', 'The endpoint of the agent is not valid', {
    expected: 'a URL that begins with ws:// or wss://',
    given: asRecord(endpoint)['url'],
  })
}

const isEndpoint = (value: unknown): value is RemoteEndpoint =>
  isRecord(value) &&
  typeof value['connect'] === 'function' &&
  typeof value['url'] === 'string' &&
  /^wss?:\/\//i.test(value['url']) &&
  URL.canParse(value['url'])
