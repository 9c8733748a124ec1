import { AgentprotoError, isAgentprotoError, toAgentprotoError } from '@agentproto/contracts'
import type { IncomingMessage } from 'node:http'
import type { RemoteEndpoint } from './remote-endpoint.js'

/** Why a connect failed. */
export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure'
  readonly error: AgentprotoError
  /** Another attempt fails in the same way. */
  readonly isFinal: boolean

  constructor(error: AgentprotoError, isFinal: boolean) {
    super(error.message, { cause: error })
    this.error = error
    this.isFinal = isFinal
  }
}

/** What a connect, or what followed it, has failed with. */
export const errorOf = (thrown: unknown): AgentprotoError =>
  thrown instanceof ConnectFailure ? thrown.error : toAgentprotoError(thrown, 'handshake_failed')

/** Of an answer that is no WebSocket. What the other end says in its body is not shown. */
export function statusFailure(endpoint: RemoteEndpoint, { statusCode = 0 }: IncomingMessage): ConnectFailure {
  const at = placeOf(endpoint)
  if (statusCode === 401 || statusCode === 403) return new ConnectFailure(refused(endpoint, statusCode), true)
  if (statusCode === 404) return unreachable(`There is nothing at ${at} (404)`, NOTHING_THERE)
  if (statusCode >= 300 && statusCode < 400)
    return unreachable(`${at} redirects (${statusCode}), and redirects are not followed`, REDIRECTED)
  if (statusCode >= 500 || statusCode === 429)
    return unreachable(`${at} cannot take the connection now (${statusCode})`)
  return unreachable(`${at} answered ${statusCode} and opened no WebSocket`, NO_SOCKET)
}

/** Of a connection that was not opened. */
export function connectFailure(endpoint: RemoteEndpoint, thrown: unknown): ConnectFailure {
  if (thrown instanceof ConnectFailure) return thrown
  if (isAgentprotoError(thrown)) return new ConnectFailure(thrown, thrown.code !== 'timeout')
  const at = placeOf(endpoint)
  const { code = '', message } = thrown instanceof Error ? (thrown as NodeJS.ErrnoException) : NO_REASON
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'ENODATA')
    return unreachable(`The name of ${at} cannot be resolved (${code})`, 'Check the host in the URL of the endpoint.')
  if (code === 'ECONNREFUSED') return unreachable(`Nothing listens at ${at}`, 'Check the port, and whether it runs.')
  if (TLS.test(code)) return tlsFailure(at, message)
  if (code.startsWith('HPE_') || /Upgrade|Sec-WebSocket|Parse Error/i.test(message))
    return unreachable(`${at} is no WebSocket: ${message}`, NO_SOCKET)
  return unreachable(`${at} cannot be reached: ${message}`)
}

/** OpenSSL has its own words for an answer that is not TLS; the code is EPROTO where a write has met it. */
const tlsFailure = (at: string, message: string): ConnectFailure =>
  /wrong version number|packet length too long/.test(message)
    ? unreachable(`${at} does not speak TLS`, NO_TLS)
    : unreachable(`The TLS connection to ${at} failed: ${message}`, TLS_HINT)

/** Without a query, which may have secrets in it. */
function placeOf({ url }: RemoteEndpoint): string {
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}

const NO_REASON = { code: '', message: 'the connection was closed' }
const TLS = /^(ERR_(TLS|SSL)_|CERT_|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA)/
const TLS_HINT = 'Trust the certificate authority of the endpoint with NODE_EXTRA_CA_CERTS; TLS is always verified.'
const NO_TLS =
  'Check the port: where nothing but ws:// is served, put a proxy with TLS before it, or use ws:// in your own network.'
const NOTHING_THERE =
  'Check the path of the URL: a gateway of agentproto serves /acp, and /acp/<agent> for each agent that it lists.'
const REDIRECTED = 'Use the address that it redirects to, if you trust it.'
const NO_SOCKET = 'Check that the URL is that of an agent that speaks ACP over WebSocket.'

function refused(endpoint: RemoteEndpoint, status: number): AgentprotoError {
  const { secrets = [] } = endpoint
  const which = secrets.map((slug) => `agentproto secrets set ${slug}`).join('; ')
  return new AgentprotoError('auth_required', `${placeOf(endpoint)} refuses the credentials (${status})`, {
    hint:
      which === ''
        ? 'Give the endpoint of the agent a header with a secret.'
        : `Check the secret that is sent, and set it again: ${which}`,
    data: { status },
  })
}

const unreachable = (message: string, hint?: string): ConnectFailure =>
  new ConnectFailure(new AgentprotoError('handshake_failed', message, hint === undefined ? {} : { hint }), false)
