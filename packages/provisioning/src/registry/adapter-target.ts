import { AgentprotoError } from '@agentproto/contracts'
import type { LoadedAdapter } from '../catalog/manifest-catalog.js'
import { originOf } from './origin.js'
import type { RegistryParts } from './registry-parts.js'

/** Which adapter an entry becomes. */
export interface AdapterTarget {
  readonly slug: string
  /** The adapter for the same agent that was not written from the registry: it is used in place of the entry. */
  readonly own?: LoadedAdapter
  /** The adapter that was written from the same entry before. */
  readonly replaces?: LoadedAdapter
}

/**
 * Decides which adapter an entry becomes. Where the catalogue has its agent, the catalogue's adapter is used, unless a slug is wished
 * for. An id that is the slug of another agent gets `acp-` before it.
 * @throws `adapter_exists` for a slug that another adapter has
 */
export async function adapterTarget(
  id: string,
  wished: string | undefined,
  { catalog }: Pick<RegistryParts, 'catalog'>,
): Promise<AdapterTarget> {
  const adapters = await catalog.map((adapter) => adapter)
  // A workspace adds adapters and stands for none: what it says of itself would decide what a name of the registry installs.
  const own = adapters.find(({ manifest, source }) => source !== 'workspace' && originOf(manifest).registryId === id)
  if (own !== undefined && wished === undefined) return { slug: own.manifest.id, own }
  const bySlug = new Map(adapters.map((adapter) => [adapter.manifest.id, adapter]))
  const slug = wished ?? freeSlug(id, bySlug)
  const there = bySlug.get(slug)
  if (there === undefined) {
    const source = await catalog.sourceOf(slug)
    // One that is left out because it is not valid.
    if (source === 'user') throw exists(slug, `Remove it with: agentproto adapters remove ${slug}`)
    return { slug }
  }
  if (there.source === 'user' && originOf(there.manifest).entry?.id === id) return { slug, replaces: there }
  throw exists(slug, hintFor(there, id))
}

/** Slugs of the catalogue are never taken by other agents. */
function freeSlug(id: string, bySlug: ReadonlyMap<string, LoadedAdapter>): string {
  const there = bySlug.get(id)
  return there === undefined || there.source === 'user' || there.source === 'workspace' ? id : `acp-${id}`
}

const hintFor = ({ source }: LoadedAdapter, id: string): string =>
  source === 'user'
    ? `Give it another slug: agentproto adapters add acp:${id} --as <slug>`
    : 'Choose another slug with --as'

const exists = (slug: string, hint: string): AgentprotoError =>
  new AgentprotoError('adapter_exists', `There is another adapter called ${slug}`, { given: slug, hint })
