import { isAgentprotoError } from '@agentproto/contracts'
import type { AdapterSummary } from '@agentproto/contracts/agent'
import { consentedPlace, endpointPlace } from '@agentproto/driver-agent-cli/installation'
import type { ProvisionHost } from './provision-host.js'

interface Adapters {
  readonly get: (slug: string) => Promise<AdapterSummary>
  readonly list: () => Promise<readonly AdapterSummary[]>
}

/** What is known of the consents to the address of an adapter, before that is removed. */
export interface ConsentsAt {
  /** Those that no adapter needs, now that it is removed, as they are written. */
  readonly unneeded: () => Promise<readonly string[]>
}

/** Undefined where its agent runs here. One whose manifest is not valid is not known to have an address. */
export async function consentsAt(
  slug: string,
  adapters: Adapters,
  { privateEndpoints = async () => [] }: Pick<ProvisionHost, 'privateEndpoints'>,
): Promise<ConsentsAt | undefined> {
  const url = await urlOf(slug, adapters)
  if (url === undefined) return undefined
  return {
    unneeded: async () => {
      const others = (await adapters.list()).flatMap(({ endpoint }) => (endpoint === undefined ? [] : [endpoint.url]))
      const place = endpointPlace(new URL(url))
      if (others.some((other) => endpointPlace(new URL(other)) === place)) return []
      // The adapter is gone by now, whether or not the owner's settings can be read.
      const consents = await privateEndpoints().catch(() => [])
      return consents.filter((consent) => consentedPlace(consent) === place)
    },
  }
}

async function urlOf(slug: string, adapters: Adapters): Promise<string | undefined> {
  try {
    return (await adapters.get(slug)).endpoint?.url
  } catch (thrown) {
    if (isAgentprotoError(thrown) && UNKNOWN.has(thrown.code)) return undefined
    throw thrown
  }
}

const UNKNOWN: ReadonlySet<string> = new Set(['adapter_not_found', 'manifest_invalid'])
