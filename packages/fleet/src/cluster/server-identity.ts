import { isIP } from 'node:net'
import { checkServerIdentity, type ConnectionOptions } from 'node:tls'

/** With what Node compares a certificate when it knows no name: the library gives none for a server that is given by its IP address. */
const NO_NAME = 'localhost'

/**
 * Compares the certificate of a server that is given by its IP address with the addresses that were given: with which of them the
 * connection was made is not known here. Nothing for servers with names, which are compared with the certificate anyway.
 */
export function identityOf(servers: readonly string[]): Pick<ConnectionOptions, 'checkServerIdentity'> {
  const hosts = servers.map((server) => server.replace(/^\w+:\/\/|:\d+$/g, '').replace(/^\[|\]$/g, ''))
  const addresses = hosts.filter((host) => isIP(host) > 0)
  if (addresses.length === 0) return {}
  const unnamed = hosts.includes(NO_NAME) ? [NO_NAME, ...addresses] : addresses
  return {
    checkServerIdentity(name, certificate) {
      const problems = (name === NO_NAME ? unnamed : [name]).map((each) => checkServerIdentity(each, certificate))
      return problems.includes(undefined) ? undefined : problems[0]
    },
  }
}
