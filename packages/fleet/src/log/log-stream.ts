import { AgentprotoError, defined } from '@agentproto/contracts'
import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import { type Cluster, clusterError } from '../cluster/cluster.js'
import { ALL_LOGS, LOG_STREAM } from '../subjects.js'

/** How long and how much the fleet keeps; the oldest events go first, and readers see a gap. */
export interface LogLimits {
  /** Milliseconds. Default: as long as their sessions. */
  readonly maxAgeMs?: number
  /** Of all logs together, in bytes on each server. Default: what the server allows. */
  readonly maxBytes?: number
}

export interface LogStreamOptions extends LogLimits {
  readonly cluster: Pick<Cluster, 'nats' | 'replicas'>
  /** Called with each difference of an existing stream that is used as it is. */
  readonly onProblem: (problem: string) => void
}

/** How long the server recognises a message that comes twice. */
const DUPLICATES_MS = 120_000

/**
 * Creates the stream of all logs, or checks the one that is there: it is never changed. A limit that differs is reported; a
 * stream that could lose or change events is refused.
 * @throws `cluster_unsupported` for such a stream, `cluster_unavailable`
 */
export async function openLogStream(options: LogStreamOptions): Promise<void> {
  try {
    const manager = await jetstreamManager(options.cluster.nats, { checkAPI: false })
    check((await existing(manager)) ?? (await created(manager, options)), options)
  } catch (error) {
    throw clusterError(error)
  }
}

async function existing({ streams }: JetStreamManager): Promise<StreamConfig | undefined> {
  try {
    return (await streams.info(LOG_STREAM)).config
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return undefined
    throw error
  }
}

async function created(manager: JetStreamManager, options: LogStreamOptions): Promise<StreamConfig> {
  try {
    return (await manager.streams.add({ name: LOG_STREAM, ...required(), ...limits(options) })).config
  } catch (error) {
    // Another host was faster, with other limits.
    const other = await existing(manager)
    if (other === undefined) throw error
    return other
  }
}

/** Without these a log could lose or change events unseen. */
const required = () =>
  ({
    subjects: [ALL_LOGS],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    max_msgs_per_subject: -1,
    max_msg_size: -1,
    allow_direct: true,
    allow_rollup_hdrs: false,
    sealed: false,
    deny_purge: false,
  }) as const satisfies Partial<StreamConfig>

const limits = ({ cluster, maxAgeMs = 0, maxBytes = -1 }: LogStreamOptions) =>
  ({
    num_replicas: cluster.replicas,
    duplicate_window: nanos(DUPLICATES_MS),
    max_age: nanos(maxAgeMs),
    max_bytes: maxBytes,
  }) as const satisfies Partial<StreamConfig>

function check(config: StreamConfig, options: LogStreamOptions): void {
  const { mirror, sources } = config
  const [wrong] = differences(config, required())
  if (wrong !== undefined) throw refused(wrong)
  if (mirror !== undefined || (sources ?? []).length > 0)
    throw refused({ name: 'mirror', expected: 'none', given: 'another stream' })
  for (const { name, expected, given } of differences(config, limits(options)))
    options.onProblem(
      `The stream ${LOG_STREAM} has ${name} ${given}, not ${expected}. It is used as it is: change it with the tools of NATS.`,
    )
}

interface Difference {
  readonly name: string
  readonly expected: string
  readonly given: string
}

const differences = (config: StreamConfig, wanted: Partial<StreamConfig>): readonly Difference[] => {
  const has = new Map<string, unknown>(Object.entries(config))
  return Object.entries(defined(wanted))
    .map(([name, value]) => ({ name, expected: JSON.stringify(value), given: JSON.stringify(has.get(name)) ?? 'none' }))
    .filter(({ expected, given }) => expected !== given)
}

const refused = ({ name, expected, given }: Difference): AgentprotoError =>
  new AgentprotoError('cluster_unsupported', `The stream ${LOG_STREAM} cannot hold the logs: its ${name} is another`, {
    expected,
    given,
    hint: 'Delete the stream, or change it with the tools of NATS.',
  })
