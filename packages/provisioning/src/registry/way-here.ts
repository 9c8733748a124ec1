import {
  type Distribution,
  distributionFor,
  type InstallPlatform,
  type InstallTools,
  type RegistryEntry,
} from '@agentproto/acp-registry'
import { AgentprotoError } from '@agentproto/contracts'
import { findInstallTools } from '../install-tools.js'
import type { ProvisionHost } from '../provision-host.js'

/** What decides how an agent can be installed on a host. */
export interface InstallPlace {
  readonly platform: InstallPlatform
  readonly tools: InstallTools
}

export async function installPlace(host: ProvisionHost): Promise<InstallPlace> {
  const { os = process.platform, arch = process.arch } = host.platform ?? {}
  return { platform: { os, arch }, tools: await findInstallTools(host) }
}

/** How an agent is installed here, or why it cannot be. */
export function wayHere(entry: RegistryEntry, { platform, tools }: InstallPlace): Distribution | string {
  const choice = distributionFor(entry, platform, tools)
  if (choice.ok) return choice.distribution
  if (choice.refused.length === 0) return 'Its entry names no way of installing it that this version knows.'
  return choice.refused.map(({ reason }) => reason).join(' ')
}

/** @throws `install_failed` with the ways that there are */
export function requireWay(entry: RegistryEntry, place: InstallPlace): Distribution {
  const way = wayHere(entry, place)
  if (typeof way === 'object') return way
  throw new AgentprotoError('install_failed', `${entry.name} cannot be installed here. ${way}`, {
    given: `${place.platform.os} on ${place.platform.arch}`,
    hint: 'Install what is missing, or find another agent with: agentproto adapters search',
  })
}
