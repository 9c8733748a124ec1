import type { RegistryReader } from '@agentproto/acp-registry'
import type { GatewayOptions } from './gateway-options.js'
import { settingsOf } from './settings.js'

/**
 * Opens the registry of ACP agents that the options or config.json name, else the public one. What it answered is kept in the home.
 * @throws `registry_invalid` for an address that may not be asked, `invalid_request` when config.json is not valid
 */
export async function openAgentRegistry(options: GatewayOptions = {}): Promise<RegistryReader> {
  const [{ registry, layout, clock }, { openRegistry }] = await Promise.all([
    settingsOf(options),
    import('@agentproto/acp-registry'),
  ])
  return openRegistry({ ...registry, home: layout.root, clock })
}
