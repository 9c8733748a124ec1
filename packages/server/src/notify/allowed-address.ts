import type { AddressReach } from '@agentproto/contracts/agent'

export interface AddressRules {
  /** The owner allows this machine and private networks. */
  readonly allowPrivate: boolean
  /** Only this machine and private networks: nothing is encrypted. */
  readonly isPlain: boolean
  readonly reachOf: (address: string) => AddressReach
}

/** Why no webhook may be sent to an address; undefined if it may. */
export function addressProblem(address: string, { allowPrivate, isPlain, reachOf }: AddressRules): string | undefined {
  switch (reachOf(address)) {
    case 'credentials':
      return `${address} serves credentials to this machine`
    case 'none':
      return `${address} is no address of a server`
    case 'private':
      return allowPrivate
        ? undefined
        : `${address} is on this machine or in a private network, and allowPrivate is not set`
    case 'public':
      return isPlain ? `${address} is reached over a public network, which needs https` : undefined
  }
}
