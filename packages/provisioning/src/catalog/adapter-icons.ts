import type { Icons } from '@agentproto/acp-registry'
import { AgentprotoError, defined } from '@agentproto/contracts'
import type { AdapterService } from '@agentproto/contracts/wire'
import type { ProvisionHost } from '../provision-host.js'
import type { ManifestCatalog } from './manifest-catalog.js'

/** Icons of adapters that a registry's entry names, as the home keeps them. */
export function adapterIcons(catalog: ManifestCatalog, { home, clock }: ProvisionHost): AdapterService['icon'] {
  // One for all requests: what two ask for at once is loaded once.
  let icons: Promise<Icons> | undefined
  const open = async (): Promise<Icons> =>
    (await import('@agentproto/acp-registry')).openIcons({ home, ...defined({ clock }) })

  return async (slug) => {
    const { registry: origin, source } = await catalog.get(slug)
    // Who may write to a workspace would choose an address that this host asks, also one of the host's own.
    if (origin?.icon === undefined || source === 'workspace')
      throw new AgentprotoError('icon_not_found', 'The adapter names no icon', { given: slug })
    icons ??= open()
    return (await icons).read(origin.icon)
  }
}
