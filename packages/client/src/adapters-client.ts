import { fromProblem, isAgentprotoError } from '@agentproto/contracts'
import type { AdapterSummary, SecretStatus } from '@agentproto/contracts/agent'
import type {
  AddAgentEvent,
  AddAgentRequest,
  AgentSearch,
  AgentWish,
  DoctorCheck,
  DoctorRequest,
  OutdatedQuery,
  ProvisionEvent,
  ProvisionRequest,
  UpdateAgentRequest,
} from '@agentproto/contracts/wire'
import type { EventSourceMessage } from 'eventsource-parser'
import { cancelled, outcomeUnknown, unreachable } from './connection-error.js'
import { readEventStream } from './event-stream.js'
import { type Call, callOf } from './operation-call.js'
import type { Transport } from './transport.js'

export type AdaptersClient = ReturnType<typeof adaptersClient>

export function adaptersClient(transport: Transport) {
  const { call } = transport
  return {
    async list(): Promise<readonly AdapterSummary[]> {
      const { adapters } = await call('GET /adapters', {})
      return adapters
    },
    /** @throws `adapter_not_found` */
    get: (slug: string) => call('GET /adapters/:slug', { params: { slug } }),
    /** Whether its agent is installed, set up and logged in. @throws `adapter_not_found` */
    state: (slug: string) => call('GET /adapters/:slug/state', { params: { slug } }),
    /** The icon of its agent, as SVG that can be shown without harm. @throws `icon_not_found` */
    async icon(slug: string): Promise<string> {
      const decoder = new TextDecoder()
      let text = ''
      for await (const piece of transport.bytes(callOf('GET /adapters/:slug/icon', { params: { slug } })))
        text += decoder.decode(piece, { stream: true })
      return text + decoder.decode()
    },
    /**
     * Installs, sets up or logs in, and reports progress; the last event is the state. The gateway continues if the
     * iteration is left. It throws `install_failed`, `version_mismatch`, `setup_required`, `setup_failed`, `auth_required`,
     * `provisioning_busy`.
     */
    provision(slug: string, { until, signal, ...body }: ProvisionRequest): AsyncIterable<ProvisionEvent> {
      const route = `POST /adapters/:slug/${until}` as const
      return messagesOf(transport, callOf(route, { params: { slug }, body, signal }), { last: 'state', withLast: true })
    },
    /** Checks its agent, one finding after the other. */
    doctor(slug: string, { signal, ...body }: DoctorRequest = {}): AsyncIterable<DoctorCheck> {
      const asked = callOf('POST /adapters/:slug/doctor', { params: { slug }, body, signal })
      return messagesOf(transport, asked, { last: 'report', withLast: false })
    },
    /** @param source Folder on the host of the gateway, or npm package. @throws `manifest_invalid`, `path_invalid` */
    add: (source: string) => call('POST /adapters', { body: { source } }),
    /** Removes an adapter of the owner. @throws `adapter_not_found`, `session_live`, `provisioning_busy` */
    remove: (slug: string) => call('DELETE /adapters/:slug', { params: { slug } }),
    /** The agents of the adapters and of the registry, each once. @throws `registry_unavailable`, `registry_invalid` */
    search: (query: AgentSearch = {}, signal?: AbortSignal) => call('GET /registry/agents', { query, signal }),
    /** What adding an agent of the registry would install. @throws `adapter_not_found`, `install_failed` */
    lookUp: (id: string, query: AgentWish = {}, signal?: AbortSignal) =>
      call('GET /registry/agents/:id', { params: { id }, query, signal }),
    /** Adds an agent of the registry, and reports progress; the last event is `added`. Leaving the iteration cancels it. */
    addAgent(id: string, { signal, ...body }: AddAgentRequest = {}): AsyncIterable<AddAgentEvent> {
      const asked = callOf('POST /registry/agents/:id', { params: { id }, body, signal })
      return messagesOf(transport, asked, { last: 'added', withLast: true })
    },
    /** The installed agents for which the registry has another version. */
    outdated: (query: OutdatedQuery = {}, signal?: AbortSignal) => call('GET /registry/updates', { query, signal }),
    /** Replaces an agent by the version of the registry, as {@link addAgent}. @throws `adapter_edited` too */
    update(slug: string, { signal, ...body }: UpdateAgentRequest = {}): AsyncIterable<AddAgentEvent> {
      const asked = callOf('POST /adapters/:slug/update', { params: { slug }, body, signal })
      return messagesOf(transport, asked, { last: 'added', withLast: true })
    },
    /** The secrets that are stored or declared; never a value. */
    async secrets(): Promise<readonly SecretStatus[]> {
      const { secrets } = await call('GET /secrets', {})
      return secrets
    },
  }
}

interface WorkEnd {
  /** The last event; a stream that ends without it was cut off. */
  readonly last: string
  /** Whether the last event is returned too. */
  readonly withLast: boolean
}

/** The data of the messages of one stream. It is not resumed, since these messages have no cursor. */
async function* messagesOf<T>(transport: Transport, call: Call, { last, withLast }: WorkEnd): AsyncGenerator<T> {
  const { signal } = call
  try {
    for await (const { event, data } of streamed(transport, call)) {
      if (event !== last || withLast) yield JSON.parse(data) as T
      if (event === last) return
    }
  } catch (thrown) {
    if (isAgentprotoError(thrown)) throw thrown
    throw signal?.aborted ? cancelled(thrown) : unreachable(transport.url, thrown)
  }
  throw signal?.aborted ? cancelled(signal.reason) : outcomeUnknown(transport.url, undefined)
}

async function* streamed(transport: Transport, call: Call): AsyncGenerator<EventSourceMessage> {
  const response = await transport.stream(call, undefined)
  const { signal } = call
  for await (const messages of readEventStream(response, { ...transport.settings, signal })) {
    for (const message of messages) {
      if (message.event === 'problem') throw fromProblem(JSON.parse(message.data))
      yield message
    }
  }
}
