import type { RegistryReader } from '@agentproto/acp-registry'
import { AgentprotoError, defined } from '@agentproto/contracts'
import type { AdapterSummary } from '@agentproto/contracts/agent'
import type { AdapterService } from '@agentproto/contracts/wire'
import { declaredSecrets } from '@agentproto/driver-agent-cli'
import type { ProvisionHost } from '../provision-host.js'
import type { Provisioner } from '../provisioner.js'
import type { AgentRegistry } from '../registry/agent-registry.js'
import { adapterIcons } from './adapter-icons.js'
import type { ManifestCatalog } from './manifest-catalog.js'

/** Ids of the sessions that run an adapter now. */
export type LiveSessions = (slug: string) => Promise<readonly string[]>

export interface HostAdaptersOptions {
  /** Default: none. */
  readonly liveSessions?: LiveSessions
  /** @throws `registry_invalid` for an address that may not be asked */
  readonly openRegistry: () => Promise<RegistryReader>
}

/** The catalogue, and installing, setting up and examining its agents; the code for that is loaded when it is first used. */
export function hostAdapters(
  catalog: ManifestCatalog,
  host: ProvisionHost,
  { liveSessions = () => Promise.resolve([]), openRegistry }: HostAdaptersOptions,
): AdapterService {
  async function provisioner(slug: string): Promise<Provisioner> {
    const adapter = await catalog.adapter(slug)
    const { createProvisioner } = await import('../provisioner.js')
    return createProvisioner(adapter, host)
  }

  return {
    list: () => catalog.list(),
    get: (slug) => catalog.get(slug),
    state: async (slug) => (await provisioner(slug)).state(),
    async *provision(slug, request) {
      await tidyUp(host)
      yield* (await provisioner(slug)).run(request)
    },
    async *doctor(slug, request) {
      const adapter = await catalog.adapter(slug)
      const { examineAgent } = await import('../doctor/index.js')
      yield* examineAgent({ adapter, host, request })
    },
    async add(source) {
      await tidyUp(host)
      return addOwn(source, catalog, host)
    },
    async remove(slug) {
      await tidyUp(host)
      const [{ removeAdapter }, { consentsAt }] = await Promise.all([
        import('../remove-adapter.js'),
        import('../unneeded-consents.js'),
      ])
      const consents = await consentsAt(slug, catalog, host)
      const agentRemoved = await removeAdapter(slug, {
        home: host.home,
        otherSource: () => catalog.sourceOf(slug),
        liveSessions: () => liveSessions(slug),
      })
      return { ok: true, slug, agentRemoved, ...defined({ consentsLeft: await consents?.unneeded() }) }
    },
    icon: adapterIcons(catalog, host),
    ...ofRegistry({
      tidy: () => tidyUp(host),
      open: async () => {
        const { agentRegistry } = await import('../registry/agent-registry.js')
        return agentRegistry({ catalog, host, openRegistry })
      },
    }),
    async secrets() {
      const declared = await Promise.all(await catalog.map(declaredSecrets))
      return host.secrets.list(declared.flat())
    },
  }
}

/** Before anything is written: what earlier processes left is gone. */
async function tidyUp(host: ProvisionHost): Promise<void> {
  const { removeLeft } = await import('../remove-left.js')
  await removeLeft(host)
}

async function addOwn(source: string, catalog: ManifestCatalog, host: ProvisionHost): Promise<AdapterSummary> {
  const [{ addAdapter }, { storing }] = await Promise.all([import('../add-adapter.js'), import('../storing.js')])
  const { manifest } = await storing(host.home, () => addAdapter(source, host, new AbortController().signal))
  const added = await catalog.get(manifest.id)
  if (added.source === 'user') return added
  throw new AgentprotoError('path_invalid', 'The adapter was added, but another adapter of that name overrides it', {
    given: `${manifest.id}, ${added.source}`,
  })
}

interface OfRegistry {
  readonly open: () => Promise<AgentRegistry>
  /** Before anything is written. */
  readonly tidy: () => Promise<void>
}

/** What is asked of the registry, each time of the one that config.json names then. */
const ofRegistry = ({ open, tidy }: OfRegistry): AgentRegistry => ({
  search: async (query, signal) => (await open()).search(query, signal),
  lookUp: async (id, wish, signal) => (await open()).lookUp(id, wish, signal),
  async *addAgent(id, request) {
    await tidy()
    yield* (await open()).addAgent(id, request)
  },
  outdated: async (query, signal) => (await open()).outdated(query, signal),
  async *update(slug, request) {
    await tidy()
    yield* (await open()).update(slug, request)
  },
})
