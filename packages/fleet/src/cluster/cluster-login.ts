import { createPrivateKey, X509Certificate } from 'node:crypto'
import { AgentprotoError, defined } from '@agentproto/contracts'
import {
  type Authenticator,
  credsAuthenticator,
  type NodeConnectionOptions,
  nkeyAuthenticator,
} from '@nats-io/transport-node'
import type { FleetOptions } from '../fleet-options.js'
import { identityOf } from './server-identity.js'
import { readPrivate, readPublic } from './private-file.js'

/** How a gateway proves who it is to the NATS servers, and which servers it trusts. */
export type ClusterLogin = Pick<NodeConnectionOptions, 'authenticator' | 'tls'>

/**
 * Reads and checks the files of the options once, so that a wrong one is an error of the start.
 * They are read again at each connection: credentials and certificates can be renewed in place.
 * @throws `invalid_request`
 */
export function clusterLogin({ servers, credentials, nkey, tls, onProblem }: FleetOptions): ClusterLogin {
  if (credentials !== undefined && nkey !== undefined)
    throw rejected('A cluster has credentials or an nkey, not both', 'one of both')
  const authenticator =
    credentials !== undefined
      ? fromFile({ what: 'credentials file', path: credentials, prove: credsAuthenticator, onProblem })
      : nkey !== undefined
        ? fromFile({ what: 'nkey file', path: nkey, prove: (seed) => nkeyAuthenticator(trimmed(seed)), onProblem })
        : undefined
  return { ...defined({ authenticator }), ...tlsOf(servers, tls) }
}

interface LoginFile {
  readonly what: string
  readonly path: string
  readonly prove: (content: Uint8Array) => Authenticator
  readonly onProblem: (problem: string) => void
}

/** A file that becomes unreadable while the gateway runs is reported, and what it had is used: an error here would end reconnects. */
function fromFile({ what, path, prove, onProblem }: LoginFile): Authenticator {
  let latest = checked()
  return (nonce) => {
    try {
      latest = checked()
    } catch (cause) {
      onProblem(`The earlier content of the ${what} is used: ${cause instanceof Error ? cause.message : String(cause)}`)
    }
    return latest(nonce)
  }
  function checked(): Authenticator {
    const authenticator = prove(readPrivate({ what, path }))
    try {
      authenticator('nonce')
    } catch {
      // The cause could quote the secret.
      throw rejected(`The ${what} ${path} is invalid`, `a ${what} of NATS, such as nsc and nk write it`)
    }
    return authenticator
  }
}

const trimmed = (seed: Uint8Array): Uint8Array => Buffer.from(Buffer.from(seed).toString('utf8').trim())

/** With any file, or an address that says so, an unencrypted connection is refused. */
function tlsOf(servers: readonly string[], tls: FleetOptions['tls']): Pick<NodeConnectionOptions, 'tls'> {
  if (tls === undefined && !servers.some((server) => server.startsWith('tls:'))) return {}
  const { ca, cert, key } = tls ?? {}
  if ((cert === undefined) !== (key === undefined))
    throw rejected('A certificate for the cluster needs its key, and a key its certificate', 'both or none')
  if (ca !== undefined)
    parsed('CA file of the cluster', ca, (path, what) => new X509Certificate(readPublic({ what, path })))
  if (cert !== undefined)
    parsed('certificate of the cluster', cert, (path, what) => new X509Certificate(readPublic({ what, path })))
  if (key !== undefined)
    parsed('TLS key of the cluster', key, (path, what) => createPrivateKey(readPrivate({ what, path })))
  return { tls: { ...defined({ caFile: ca, certFile: cert, keyFile: key }), ...identityOf(servers) } }
}

function parsed(what: string, path: string, parse: (path: string, what: string) => unknown): void {
  try {
    parse(path, what)
  } catch (cause) {
    if (cause instanceof AgentprotoError) throw cause
    throw rejected(`The ${what} ${path} is invalid`, 'a PEM file without a passphrase')
  }
}

const rejected = (problem: string, expected: string): AgentprotoError =>
  new AgentprotoError('invalid_request', problem, { expected })
