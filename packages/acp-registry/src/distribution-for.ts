import { REGISTRY_WAYS, type RegistryWay } from '@agentproto/contracts/agent'
import { binaryDistribution } from './binary-distribution.js'
import type { Distribution, DistributionChoice, InstallPlatform, InstallTools, RefusedWay } from './distribution.js'
import { npmDistribution } from './npm-distribution.js'
import { pythonDistribution } from './python-distribution.js'
import type { RegistryEntry } from './registry-entry.js'

/**
 * Decides how an agent is installed here: the first of npx, uvx and binary that can be used. A package comes before a binary,
 * because its registry has a checksum of it.
 * @returns the ways before it that cannot be used, or all of them, with the reasons; of an entry without a way that this version knows, none
 */
export function distributionFor(
  { distribution }: Pick<RegistryEntry, 'distribution'>,
  platform: InstallPlatform,
  tools: InstallTools,
): DistributionChoice {
  const readers: Readonly<Record<RegistryWay, () => Distribution | string | undefined>> = {
    npx: () => distribution.npx && npmDistribution(distribution.npx, tools),
    uvx: () => distribution.uvx && pythonDistribution(distribution.uvx, tools),
    binary: () => distribution.binary && binaryDistribution(distribution.binary, platform),
  }
  const refused: RefusedWay[] = []
  for (const way of REGISTRY_WAYS) {
    const read = readers[way]()
    if (typeof read === 'object') return { ok: true, distribution: read, refused }
    if (read !== undefined) refused.push({ way, reason: read })
  }
  return { ok: false, refused }
}
