import { AgentprotoError } from '@agentproto/contracts'

/** The public registry. */
export const PUBLIC_REGISTRY = 'https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json'

/**
 * The address of a registry, if it may be asked: https, or http on this machine.
 * @throws `registry_invalid`
 */
export function registryAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && isSafeAddress(url)) return url
  throw new AgentprotoError('registry_invalid', 'The address of the registry cannot be used', {
    expected: 'an https address without a user name, or http on loopback',
    // An address with a password would show it.
    given: url === undefined ? text : `${url.protocol}//${url.host}`,
    hint: 'Restore the public one with: agentproto config unset registry.url',
  })
}

/** Whether no one on the way can change what an address answers: TLS, or this machine. */
export const isSafeAddress = (url: URL): boolean =>
  url.username === '' && url.password === '' && (url.protocol === 'https:' || isLoopbackHttp(url))

export const isLoopbackHttp = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && (hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname))
