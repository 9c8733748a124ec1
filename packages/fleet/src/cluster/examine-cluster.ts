import { JetStreamApiCodes, JetStreamApiError, jetstreamManager, type StreamInfo } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { type Cluster, clusterError, openCluster } from './cluster.js'
import { readFleetKey } from '../keys/fleet-key.js'
import type { FleetOptions } from '../fleet-options.js'
import { leaseOf } from '../directory/lease.js'
import { answersTo, callSubject, HOSTS_BUCKET, LOG_STREAM, SESSIONS_BUCKET } from '../subjects.js'

/** What a gateway would find of its fleet. */
export interface ClusterFindings {
  /** Of the NATS server that answered. */
  readonly version: string
  /** How many servers it knows, with itself. */
  readonly servers: number
  /** How many of them store each message. */
  readonly replicas: number
  readonly roundTripMs: number
  /** By how much the clock of this machine is at least ahead of the server's; negative when it is behind. 0 where none is known. */
  readonly clockAheadMs: number
}

/**
 * Does what a gateway does before it joins, and changes nothing.
 * @throws `path_invalid` for the key file; `invalid_request`, `cluster_unavailable` and `cluster_unsupported` as `openCluster`
 */
export async function examineCluster(options: FleetOptions & { readonly host: string }): Promise<ClusterFindings> {
  await readFleetKey(options.key)
  const cluster = await openCluster(options)
  try {
    const [hosts] = await streamsOf(cluster)
    await assertReads(cluster.nats, options.host)
    const { version = '', connect_urls: known = [] } = cluster.nats.info ?? {}
    return {
      version,
      servers: Math.max(1, known.length),
      replicas: hosts?.config.num_replicas ?? cluster.replicas,
      roundTripMs: await cluster.nats.rtt(),
      clockAheadMs: clockAheadOf(hosts, options),
    }
  } catch (thrown) {
    throw clusterError(thrown)
  } finally {
    await cluster.close()
  }
}

/** The streams of the fleet; undefined for one that its first gateway creates. */
async function streamsOf({ nats }: Cluster): Promise<readonly (StreamInfo | undefined)[]> {
  const { streams } = await jetstreamManager(nats)
  return Promise.all(
    [`KV_${HOSTS_BUCKET}`, `KV_${SESSIONS_BUCKET}`, LOG_STREAM].map((name) =>
      streams.info(name).catch((thrown: unknown) => {
        if (thrown instanceof JetStreamApiError && thrown.code === JetStreamApiCodes.StreamNotFound) return undefined
        throw thrown
      }),
    ),
  )
}

/** Whether this host may read its calls and its answers: a denied subscription is an error of it. */
async function assertReads(nats: NatsConnection, host: string): Promise<void> {
  let denied: Error | undefined
  const callback = (error: Error | null): void => void (denied ??= error ?? undefined)
  const subscriptions = [callSubject(host), answersTo(host)].map((subject) => nats.subscribe(subject, { callback }))
  await nats.flush()
  for (const subscription of subscriptions) subscription.unsubscribe()
  if (denied !== undefined) throw denied
}

/**
 * A heartbeat that is stored is younger than the time after which the server forgets it, by the clock of the server: an older one
 * means that the clock here is ahead, and one of the future that it is behind.
 */
function clockAheadOf(hosts: StreamInfo | undefined, { clock, leaseMs }: FleetOptions): number {
  if (hosts === undefined || hosts.state.messages === 0) return 0
  const age = clock.now() - Date.parse(hosts.state.last_ts)
  const { forgottenMs } = leaseOf(leaseMs)
  return age < 0 ? age : Math.max(0, age - forgottenMs)
}
