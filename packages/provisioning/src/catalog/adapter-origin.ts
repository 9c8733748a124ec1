import { asRecord, asString, defined } from '@agentproto/contracts'
import type { AdapterSummary, ObservedAgent } from '@agentproto/contracts/agent'
import { type AgentCliManifest, observedMembers } from '@agentproto/manifest'

/** Where the manifest of an agent came from and what was measured of it, if agentproto wrote it. */
export async function adapterOrigin({
  metadata,
}: Pick<AgentCliManifest, 'metadata'>): Promise<Pick<AdapterSummary, 'registry' | 'observed'>> {
  const { registry, observed } = asRecord(metadata['agentproto'])
  if (registry === undefined && observed === undefined) return {}
  // What most adapters have no need of is not loaded for them.
  const schemas = await import('@agentproto/contracts/wire')
  return defined({ registry: registryOf(registry, schemas), observed: observedOf(observed, schemas) })
}

type Schemas = typeof import('@agentproto/contracts/wire')

function registryOf(block: unknown, { registryOriginSchema }: Schemas): AdapterSummary['registry'] {
  const { url, file, id, name, version, added_at, icon } = asRecord(block)
  const source = asString(url) ?? asString(file)
  // Written by hand, it may be anything.
  return registryOriginSchema.safeParse(defined({ source, id, name, version, addedAt: added_at, icon: asString(icon) }))
    .data as AdapterSummary['registry']
}

/** The schema of the manifest has checked it, but not in the words of a program that has no file. */
const observedOf = (block: unknown, { observedAgentSchema }: Schemas): ObservedAgent | undefined =>
  observedAgentSchema.safeParse(observedMembers(block)).data as ObservedAgent | undefined
