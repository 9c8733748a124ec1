import { AgentprotoError } from '@agentproto/contracts'
import type { AdapterSummary, SecretStatus } from '@agentproto/contracts/agent'
import type {
  AdapterService,
  AdapterState,
  DoctorCheck,
  DoctorRequest,
  ProvisionEvent,
  ProvisionRequest,
} from '@agentproto/contracts/wire'
import { declaredSecrets } from '@agentproto/driver-agent-cli'
import type { ProvisionHost } from '../provision-host.js'
import type { Provisioner } from '../provisioner.js'
import type { ManifestCatalog } from './manifest-catalog.js'

/** The catalogue, and installing, setting up and examining its agents; the code for that is loaded when it is first used. */
export class HostAdapters implements AdapterService {
  readonly #catalog: ManifestCatalog
  readonly #host: ProvisionHost

  constructor(catalog: ManifestCatalog, host: ProvisionHost) {
    this.#catalog = catalog
    this.#host = host
  }

  list(): Promise<readonly AdapterSummary[]> {
    return this.#catalog.list()
  }

  get(slug: string): Promise<AdapterSummary> {
    return this.#catalog.get(slug)
  }

  async state(slug: string): Promise<AdapterState> {
    return (await this.#provisioner(slug)).state()
  }

  async *provision(slug: string, request: ProvisionRequest): AsyncIterable<ProvisionEvent> {
    yield* (await this.#provisioner(slug)).run(request)
  }

  async #provisioner(slug: string): Promise<Provisioner> {
    const adapter = await this.#catalog.adapter(slug)
    const { createProvisioner } = await import('../provisioner.js')
    return createProvisioner(adapter, this.#host)
  }

  async *doctor(slug: string, request: DoctorRequest): AsyncIterable<DoctorCheck> {
    const adapter = await this.#catalog.adapter(slug)
    const { examineAgent } = await import('../doctor/index.js')
    yield* examineAgent({ adapter, host: this.#host, request })
  }

  async add(source: string): Promise<AdapterSummary> {
    const { addAdapter } = await import('../add-adapter.js')
    const { manifest } = await addAdapter(source, this.#host, new AbortController().signal)
    const added = await this.#catalog.get(manifest.id)
    if (added.source === 'user') return added
    throw new AgentprotoError('path_invalid', 'The adapter was added, but another adapter of that name overrides it', {
      given: `${manifest.id}, ${added.source}`,
    })
  }

  async secrets(): Promise<readonly SecretStatus[]> {
    const declared = await Promise.all(await this.#catalog.map(declaredSecrets))
    return this.#host.secrets.list(declared.flat())
  }
}
