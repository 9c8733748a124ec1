import type { RegistryReader } from '@agentproto/acp-registry'
import type { ManifestCatalog } from '../catalog/manifest-catalog.js'
import type { ProvisionHost } from '../provision-host.js'

/** What the agents of the registry are looked up with. */
export interface RegistryParts {
  readonly catalog: Pick<ManifestCatalog, 'adapter' | 'get' | 'map' | 'sourceOf'>
  readonly host: ProvisionHost
  /** @throws `registry_invalid` for an address that may not be asked */
  readonly openRegistry: () => Promise<RegistryReader>
}

/** What the user chose of where an agent is read. */
export interface ReadChoice {
  readonly mode?: 'refresh' | 'offline' | undefined
  /** Absolute file to use in place of the registry. */
  readonly from?: string | undefined
}
