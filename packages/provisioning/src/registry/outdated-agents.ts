import type { RegistryEntry } from '@agentproto/acp-registry'
import { defined } from '@agentproto/contracts'
import type { AdapterUpdate, AdapterUpdates, OutdatedQuery } from '@agentproto/contracts/wire'
import { locateAgent } from '@agentproto/driver-agent-cli'
import type { LoadedAdapter } from '../catalog/manifest-catalog.js'
import { isEdited } from './edited-adapter.js'
import { type Origin, originOf } from './origin.js'
import { isNewer, isOlder, ownVersions } from './own-versions.js'
import { type ReadAgents, readAgents } from './read-agents.js'
import type { RegistryParts } from './registry-parts.js'

/** The installed agents for which the registry has another version. @throws `registry_unavailable`, `registry_invalid`, `cancelled` */
export async function outdatedAgents(
  { mode }: OutdatedQuery,
  parts: RegistryParts,
  signal?: AbortSignal,
): Promise<AdapterUpdates> {
  const [adapters, read] = await Promise.all([
    parts.catalog.map((adapter) => adapter),
    readAgents({ mode }, parts, signal),
  ])
  const found = await Promise.all(adapters.map((adapter) => compareOne(adapter, read, parts)))
  return {
    updates: found.filter((each) => typeof each === 'object'),
    gone: found.filter((each) => typeof each === 'string'),
    registry: read.state,
  }
}

/** Its update, its slug where the entry is gone, or undefined where nothing is to be done. */
async function compareOne(
  adapter: LoadedAdapter,
  read: ReadAgents,
  parts: RegistryParts,
): Promise<AdapterUpdate | string | undefined> {
  const { entry: written, registryId } = originOf(adapter.manifest)
  const id = written?.id ?? registryId
  // What was added from a file is compared with that file, when it is updated.
  if (id === undefined || written?.file !== undefined) return undefined
  const entry = read.agents.find((each) => each.id === id)
  const slug = adapter.manifest.id
  if (written !== undefined) return entry === undefined ? slug : writtenUpdate(adapter, written, entry)
  return entry && (await ownUpdate(adapter, entry, parts))
}

async function writtenUpdate(
  adapter: LoadedAdapter,
  written: NonNullable<Origin['entry']>,
  { id, version, sha256 }: RegistryEntry,
): Promise<AdapterUpdate | undefined> {
  if (written.sha256 === sha256 || isOlder({ installed: written.version, available: version })) return undefined
  const edited = await isEdited(adapter)
  return {
    slug: adapter.manifest.id,
    registryId: id,
    installed: written.version,
    available: version,
    bundled: false,
    edited,
  }
}

async function ownUpdate(
  adapter: LoadedAdapter,
  entry: RegistryEntry,
  { host }: RegistryParts,
): Promise<AdapterUpdate | undefined> {
  if ((await locateAgent(adapter.manifest, host)) === undefined) return undefined
  const { installed, available } = await ownVersions(entry, adapter, host)
  if (!isNewer({ available, ...defined({ installed }) })) return undefined
  return {
    slug: adapter.manifest.id,
    registryId: entry.id,
    available,
    bundled: true,
    edited: false,
    ...defined({ installed }),
  }
}
