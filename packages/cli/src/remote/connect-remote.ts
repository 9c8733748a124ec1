import { AgentprotoError, asRecord, asString, isAgentprotoError } from '@agentproto/contracts'
import { type Client, createClient } from '@agentproto/client'
import { warn, type CliContext } from '../cli-context.js'
import { explained, isExplained } from '../explained.js'
import { findDaemon } from '../daemon/connect.js'
import { traceOptions } from '../trace-options.js'
import { version } from '../version.js'
import { Lifetime } from './lifetime.js'
import { remoteFetch, type TokenSource } from './remote-fetch.js'
import { assertPrivate, parseRemoteUrl, type RemoteUrl } from './remote-url.js'
import { storedToken } from './stored-token.js'

/** How long a gateway that is gone is waited for, in milliseconds. */
const AWAY_MS = 120_000

export interface RemoteOptions {
  readonly remote: string
  readonly allowInsecure?: boolean
  /** Default: that of the environment, else the stored one. */
  readonly token?: string
}

/** A gateway elsewhere. */
export interface Remote extends RemoteUrl {
  readonly client: Client
  /** Nothing more is asked: ends what is still on its way. */
  leave(): void
}

/**
 * Connects to a gateway elsewhere, and checks that it is one, that it accepts the token, and which version it has. Once it
 * has answered, calls and followers wait for it while it is away.
 * @throws `invalid_request`, `unauthorized`, `daemon_not_running`
 */
export async function connectRemote(context: CliContext, options: RemoteOptions): Promise<Remote> {
  const remote = parseRemoteUrl(options.remote)
  assertPrivate(remote, options.allowInsecure === true)
  const { localUrl, token, source } = await addressOf(context, remote.url, options.token)
  const lifetime = new Lifetime()
  const tls = localUrl.startsWith('https:') ? (await import('../client-tls.js')).clientTls(context) : {}
  const client = createClient({
    url: localUrl,
    token,
    fetch: remoteFetch({ url: remote.url, source, tls, lifetime }),
    clock: lifetime.clock,
    callRetryMs: AWAY_MS,
    reconnectMs: AWAY_MS,
    ...traceOptions(context),
  })
  await greet(context, remote, client)
  return { ...remote, client, leave: () => lifetime.leave() }
}

interface Address {
  readonly localUrl: string
  readonly token: string
  readonly source: TokenSource
}

/** It may be the gateway of this home, whose owner needs no token. */
async function addressOf(context: CliContext, url: string, given: string | undefined): Promise<Address> {
  if (given !== undefined) return { localUrl: url, token: given, source: 'given' }
  const env = { ...context.env, AGENTPROTO_URL: url }
  const { localUrl, token } = await findDaemon({ ...context, env, autoStart: false })
  if (token !== undefined) return { localUrl, token, source: 'environment' }
  return { localUrl, token: await storedToken(context, url), source: 'store' }
}

async function greet(context: CliContext, { url }: RemoteUrl, client: Client): Promise<void> {
  const theirs = await client.health().catch((thrown: unknown) => {
    throw notAnswering(url, thrown)
  })
  if (asString(asRecord(theirs)['version']) === undefined) throw noGateway(url)
  await client.caller()
  const own = version()
  if (theirs.version !== own) {
    const versions = `the gateway at ${url} is ${theirs.version}, this command is ${own}`
    warn(context, `${versions}. Install the same version on both machines if something does not work`)
  }
}

function notAnswering(url: string, thrown: unknown): unknown {
  if (isAgentprotoError(thrown) && isExplained(thrown)) return thrown
  if (isAgentprotoError(thrown) && thrown.code !== 'daemon_not_running') {
    // A TLS failure explains itself; `internal` is an answer that no gateway gives, and every gateway has the route.
    return thrown.code === 'internal' || thrown.code === 'route_not_found' ? noGateway(url, thrown) : thrown
  }

  if (!isAgentprotoError(thrown)) return noGateway(url, thrown)
  const why = reasonOf(thrown.cause)
  return explained(
    new AgentprotoError('daemon_not_running', `No gateway answers at ${url}${why === '' ? '' : `: ${why}`}`, {
      hint: 'On its machine: agentproto status. It must listen beyond that machine: agentproto serve --help',
      cause: thrown,
    }),
  )
}

/** What the system said, such as `connect ECONNREFUSED 10.0.0.4:7646`. */
function reasonOf(cause: unknown): string {
  const { message, errors } = asRecord(cause)
  const own = asString(message) ?? ''
  return own !== '' || !Array.isArray(errors) ? own : reasonOf(errors[0])
}

const noGateway = (url: string, cause?: unknown): AgentprotoError =>
  explained(
    new AgentprotoError('daemon_not_running', `${url} answers, but not as a gateway of agentproto does`, {
      hint: 'Check host, port and path: the address is the one that agentproto status prints there, or that of its proxy',
      cause,
    }),
  )
