import { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
import { JetStreamApiCodes, JetStreamApiError, jetstreamManager } from '@nats-io/jetstream'
import { connect, errors, type NatsConnection, type Status } from '@nats-io/transport-node'
import { clusterLogin } from './cluster-login.js'
import { growReplicas } from './grow-replicas.js'
import { readFleetKey } from '../keys/fleet-key.js'
import type { FleetOptions } from '../fleet-options.js'
import { leaseOf } from '../directory/lease.js'
import { StoredSignatures } from '../keys/stored-signature.js'
import { SESSIONS_BUCKET } from '../subjects.js'

/** The connection of this gateway to the NATS servers of its fleet. */
export interface Cluster {
  readonly nats: NatsConnection
  /** How many servers store each message. */
  readonly replicas: 1 | 3
  /** The largest message, in bytes. */
  readonly maxPayload: number
  /** Of all that the gateways of the fleet store. */
  readonly signatures: StoredSignatures
  /** Ends the connection, its reconnects and its timers. */
  close(): Promise<void>
}

/** What is used of JetStream is in 2.9: consumers with a filter, key-value buckets, an expected sequence of a subject. */
const MIN_VERSION = [2, 9] as const
const CONNECT_MS = 5_000
const JETSTREAM_MS = 5_000
/** With the same again at random, so that a hundred hosts do not come back in one moment. */
const RECONNECT_MS = 250

/**
 * Connects, and checks that the servers have what a fleet needs. From then on a lost connection is made again for ever.
 * @throws `invalid_request` for options or their files, `cluster_unavailable` when no server can be used now,
 * `cluster_unsupported` when JetStream, its version or a right is missing
 */
export async function openCluster(options: FleetOptions): Promise<Cluster> {
  const signatures = new StoredSignatures(await readFleetKey(options.key))
  const nats = await connected(options)
  try {
    assertVersion(nats)
    const replicas = await replicasOf(nats, options.onProblem)
    void reportStatus(nats, options.onProblem)
    return { nats, replicas, maxPayload: nats.info?.max_payload ?? 0, signatures, close: () => nats.close() }
  } catch (thrown) {
    await nats.close()
    throw clusterError(thrown)
  }
}

async function connected(options: FleetOptions): Promise<NatsConnection> {
  const { servers, host, leaseMs } = options
  assertServers(servers)
  const login = clusterLogin(options)
  const { silentMs } = leaseOf(leaseMs)
  try {
    return await connect({
      servers: [...servers],
      ...login,
      name: host === undefined ? 'agentproto' : `agentproto ${host}`,
      timeout: CONNECT_MS,
      maxReconnectAttempts: -1,
      // The credentials may be renewed, or accepted again.
      ignoreAuthErrorAbort: true,
      reconnectTimeWait: RECONNECT_MS,
      reconnectJitter: RECONNECT_MS,
      reconnectJitterTLS: RECONNECT_MS,
      // A frozen server is left, and the lease renewed at another one, before the lease ends.
      pingInterval: Math.max(250, Math.floor(silentMs / 8)),
      maxPingOut: 2,
      noAsyncTraces: true,
    })
  } catch (cause) {
    throw connectError(cause, servers)
  }
}

const ADDRESS = /^(?:nats|tls):\/\/(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/

/** An address with a user or password is refused: it would be in the list of processes. */
function assertServers(servers: readonly string[]): void {
  const wrong = servers.find((server) => !ADDRESS.test(server))
  if (servers.length > 0 && wrong === undefined) return
  throw new AgentprotoError('invalid_request', 'The address of a cluster is invalid', {
    expected: 'nats://host:port or tls://host:port, without a user or password',
    given: wrong?.includes('@') === true ? 'an address with @' : (wrong ?? 'none'),
    hint: 'Give credentials by the path of a file.',
  })
}

function assertVersion({ info }: NatsConnection): void {
  const given = info?.version ?? ''
  const [major = 0, minor = 0] = given.split('.').map(Number)
  const [wantedMajor, wantedMinor] = MIN_VERSION
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return
  throw new AgentprotoError('cluster_unsupported', 'The NATS server is too old', {
    expected: `version ${MIN_VERSION.join('.')} or newer`,
    given,
    hint: 'Get a newer one from https://github.com/nats-io/nats-server/releases',
  })
}

/**
 * What the fleet has already decides, and it grows. A first host takes three when its server knows at least three.
 * Also the check that JetStream answers.
 */
async function replicasOf(nats: NatsConnection, onProblem: (problem: string) => void): Promise<1 | 3> {
  const manager = await jetstreamManager(nats, { timeout: JETSTREAM_MS })
  const { cluster, connect_urls: known = [] } = nats.info ?? {}
  const possible = cluster !== undefined && known.length >= 3 ? 3 : 1
  try {
    const { config } = await manager.streams.info(`KV_${SESSIONS_BUCKET}`)
    if (config.num_replicas >= 3) return 3
    return possible === 3 ? await growReplicas(manager, onProblem) : 1
  } catch (thrown) {
    if (!(thrown instanceof JetStreamApiError) || thrown.code !== JetStreamApiCodes.StreamNotFound) throw thrown
    return possible
  }
}

/** Why the servers could not be reached at all. */
function connectError(cause: unknown, servers: readonly string[]): AgentprotoError {
  const isRefused = cause instanceof errors.AuthorizationError || cause instanceof errors.UserAuthenticationExpiredError
  return new AgentprotoError(
    'cluster_unavailable',
    isRefused ? 'The NATS server does not accept this gateway' : `No NATS server can be reached: ${messageOf(cause)}`,
    {
      expected: isRefused ? 'credentials or an nkey that it knows' : `a server at one of ${servers.join(', ')}`,
      hint: isRefused
        ? 'Check the file of the credentials, as docs/fleet-security.md shows.'
        : 'Check the addresses, the network, and whether nats-server runs there.',
      cause,
    },
  )
}

/**
 * An error of NATS as one of the table. `cluster_unsupported` for what only a change of the servers' configuration helps,
 * else `cluster_unavailable`.
 */
export function clusterError(thrown: unknown): AgentprotoError {
  if (isAgentprotoError(thrown)) return thrown
  const denied = deniedSubject(thrown)
  if (denied !== undefined)
    return new AgentprotoError('cluster_unsupported', `The NATS server denies this gateway the subject ${denied}`, {
      hint: 'Give its user the rights of docs/fleet-security.md.',
      cause: thrown,
    })
  if (isWithoutJetStream(thrown))
    return new AgentprotoError('cluster_unsupported', 'JetStream is off', {
      expected: 'a nats-server with JetStream for the account of this gateway',
      hint: 'Start it with -js, and enable JetStream for the account.',
      cause: thrown,
    })
  return new AgentprotoError('cluster_unavailable', `JetStream does not answer: ${messageOf(thrown)}`, {
    hint: 'More than half of its servers must run and know each other.',
    cause: thrown,
  })
}

function deniedSubject(thrown: unknown): string | undefined {
  for (const each of [thrown, thrown instanceof Error ? thrown.cause : undefined])
    if (each instanceof errors.PermissionViolationError) return each.subject
  return undefined
}

const isWithoutJetStream = (thrown: unknown): boolean =>
  // Its class is not exported.
  thrown instanceof Error && thrown.name === 'JetStreamNotEnabled'

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

/** Says when the connection is lost, made again or refused. Ends with the connection. */
async function reportStatus(nats: NatsConnection, onProblem: (problem: string) => void): Promise<void> {
  for await (const status of nats.status()) {
    const problem = problemOf(status)
    if (problem !== undefined) onProblem(problem)
  }
}

function problemOf(status: Status): string | undefined {
  switch (status.type) {
    case 'disconnect':
      return `The connection to the NATS server ${status.server} is lost. It will be made again.`
    case 'reconnect':
      return `The NATS server ${status.server} is connected.`
    case 'staleConnection':
      return 'The NATS server does not answer any more. Another one is tried.'
    case 'error':
      return `The NATS server reports: ${status.error.message}`
    case 'slowConsumer':
      return 'This gateway reads messages of NATS too slowly.'
    case 'close':
    case 'forceReconnect':
    case 'ldm':
    case 'ping':
    case 'reconnecting':
    case 'update':
      return undefined
  }
}
