import type { Icons, RegistryReader } from '@agentproto/acp-registry'
import { AgentprotoError, defined } from '@agentproto/contracts'
import type { AdapterService } from '@agentproto/contracts/wire'
import { declaredSecrets } from '@agentproto/driver-agent-cli'
import type { ProvisionHost } from '../provision-host.js'
import type { Provisioner } from '../provisioner.js'
import type { agentRegistry } from '../registry/agent-registry.js'
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
  const registry = async (): Promise<ReturnType<typeof agentRegistry>> =>
    (await import('../registry/agent-registry.js')).agentRegistry({ catalog, host, openRegistry })

  // One for all requests: what two ask for at once is loaded once.
  let icons: Promise<Icons> | undefined
  const openIcons = async (): Promise<Icons> =>
    (await import('@agentproto/acp-registry')).openIcons(defined({ home: host.home, clock: host.clock }))

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
      yield* (await provisioner(slug)).run(request)
    },
    async *doctor(slug, request) {
      const adapter = await catalog.adapter(slug)
      const { examineAgent } = await import('../doctor/index.js')
      yield* examineAgent({ adapter, host, request })
    },
    async add(source) {
      const { addAdapter } = await import('../add-adapter.js')
      const { manifest } = await addAdapter(source, host, new AbortController().signal)
      const added = await catalog.get(manifest.id)
      if (added.source === 'user') return added
      throw new AgentprotoError(
        'path_invalid',
        'The adapter was added, but another adapter of that name overrides it',
        { given: `${manifest.id}, ${added.source}` },
      )
    },
    async remove(slug) {
      const { removeAdapter } = await import('../remove-adapter.js')
      const agentRemoved = await removeAdapter(slug, {
        home: host.home,
        otherSource: () => catalog.sourceOf(slug),
        liveSessions: () => liveSessions(slug),
      })
      return { ok: true, slug, agentRemoved }
    },
    async icon(slug) {
      const { registry: origin } = await catalog.get(slug)
      if (origin?.icon === undefined)
        throw new AgentprotoError('icon_not_found', 'The adapter names no icon', { given: slug })
      return (await (icons ??= openIcons())).read(origin.icon)
    },
    search: async (query, signal) => (await registry()).search(query, signal),
    lookUp: async (id, wish, signal) => (await registry()).lookUp(id, wish, signal),
    async *addAgent(id, request) {
      yield* (await registry()).addAgent(id, request)
    },
    outdated: async (query, signal) => (await registry()).outdated(query, signal),
    async *update(slug, request) {
      yield* (await registry()).update(slug, request)
    },
    async secrets() {
      const declared = await Promise.all(await catalog.map(declaredSecrets))
      return host.secrets.list(declared.flat())
    },
  }
}
