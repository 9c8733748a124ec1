import {
  type AdapterState,
  type AdapterSummary,
  type DoctorCheck,
  type DoctorRequest,
  fromProblem,
  isAgentprotoError,
  type ProvisionEvent,
  type ProvisionRequest,
  type SecretStatus,
} from '@agentproto/contracts'
import type { EventSourceMessage } from 'eventsource-parser'
import { cancelled, outcomeUnknown, unreachable } from './connection-error.js'
import { readEventStream } from './event-stream.js'
import type { Call, Transport } from './transport.js'

export interface AdaptersClient {
  list(): Promise<readonly AdapterSummary[]>
  /** @throws `adapter_not_found` */
  get(slug: string): Promise<AdapterSummary>
  /** How far its agent is provisioned. @throws `adapter_not_found` */
  state(slug: string): Promise<AdapterState>
  /**
   * Installs, sets up or logs in, telling what happens; the last event is the state. The gateway goes on when the
   * iteration is left. It throws `install_failed`, `version_mismatch`, `setup_required`, `setup_failed`,
   * `auth_required`, `provisioning_busy`.
   */
  provision(slug: string, request: ProvisionRequest): AsyncIterable<ProvisionEvent>
  /** Examines its agent, one finding after the other. */
  doctor(slug: string, request?: DoctorRequest): AsyncIterable<DoctorCheck>
  /** @param source folder on the gateway's host, or npm package. @throws `manifest_invalid`, `path_invalid` */
  add(source: string): Promise<AdapterSummary>
  /** The secrets that are stored or declared; never a value. */
  secrets(): Promise<readonly SecretStatus[]>
}

export function adaptersClient(transport: Transport): AdaptersClient {
  const at = (slug: string): string => `/adapters/${encodeURIComponent(slug)}`
  return {
    async list() {
      const { adapters } = await transport.json<{ adapters: AdapterSummary[] }>({ path: '/adapters' })
      return adapters
    },
    get: (slug) => transport.json({ path: at(slug) }),
    state: (slug) => transport.json({ path: `${at(slug)}/state` }),
    provision: (slug, { until, signal, ...body }) =>
      messagesOf(transport, {
        method: 'POST',
        path: `${at(slug)}/${until}`,
        body,
        signal,
        last: 'state',
        withLast: true,
      }),
    doctor: (slug, { signal, ...body } = {}) =>
      messagesOf(transport, {
        method: 'POST',
        path: `${at(slug)}/doctor`,
        body,
        signal,
        last: 'report',
        withLast: false,
      }),
    add: (source) => transport.json({ method: 'POST', path: '/adapters', body: { source } }),
    async secrets() {
      const { secrets } = await transport.json<{ secrets: SecretStatus[] }>({ path: '/secrets' })
      return secrets
    },
  }
}

interface WorkCall extends Call {
  /** The event that comes last; a stream that ends without it was cut off. */
  readonly last: string
  /** Whether that one is handed out too. */
  readonly withLast: boolean
}

/** The data of one stream's messages. It is not resumed: what it tells of has no cursor. */
async function* messagesOf<T>(transport: Transport, call: WorkCall): AsyncGenerator<T> {
  try {
    for await (const message of streamed(transport, call)) {
      const isLast = message.event === call.last
      if (!isLast || call.withLast) yield JSON.parse(message.data) as T
      if (isLast) return
    }
  } catch (thrown) {
    if (isAgentprotoError(thrown)) throw thrown
    throw call.signal?.aborted ? cancelled(thrown) : unreachable(transport.url, thrown)
  }
  throw call.signal?.aborted ? cancelled(call.signal.reason) : outcomeUnknown(transport.url, undefined)
}

async function* streamed(
  transport: Transport,
  { last: _, withLast: __, ...call }: WorkCall,
): AsyncGenerator<EventSourceMessage> {
  const response = await transport.stream(call, undefined)
  for await (const messages of readEventStream(response, { ...transport.settings, signal: call.signal })) {
    for (const message of messages) {
      if (message.event === 'problem') throw fromProblem(JSON.parse(message.data))
      yield message
    }
  }
}
