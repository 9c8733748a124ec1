import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { asRecord } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import type { AgentCliManifest } from '@agentproto/manifest'
import type { AgentHost, HomePolicy } from '../agent-host.js'
import { manifestHint, staysBelow } from './manifest-hint.js'

/** A private home of an agent's. */
export interface AgentHome {
  readonly path: string
  /** What leads the agent there. */
  readonly variables: Readonly<Record<string, string>>
}

const FOLDERS: Readonly<Record<string, string>> = {
  XDG_CONFIG_HOME: '.config',
  XDG_DATA_HOME: '.local/share',
  XDG_STATE_HOME: '.local/state',
  XDG_CACHE_HOME: '.cache',
}

/** The policy of a host for one adapter. */
export function homePolicy(
  manifest: Pick<AgentCliManifest, 'id'>,
  { homes = 'operator' }: Pick<AgentHost, 'homes'>,
): HomePolicy {
  if (typeof homes === 'string') return homes
  return (Object.hasOwn(homes, manifest.id) ? homes[manifest.id] : undefined) ?? 'operator'
}

/**
 * The private home of an adapter, made if it is not there, for its agent and for its login alike; undefined where
 * it lives in the operator's. Variables that name a folder of the agent's own are in its manifest, at
 * `metadata.agentproto.homes`, with their places below the home.
 */
export function agentHome(
  manifest: Pick<AgentCliManifest, 'id' | 'metadata'>,
  host: Pick<AgentHost, 'home' | 'homes'>,
): AgentHome | undefined {
  if (homePolicy(manifest, host) === 'operator') return undefined
  return homeAt(join(homeLayout(host.home).homes, manifest.id), manifest)
}

/** A home in a folder. */
export function homeAt(path: string, manifest: Pick<AgentCliManifest, 'metadata'>): AgentHome {
  const folders = { ...FOLDERS, ...ownFolders(manifest) }
  const places = Object.entries(folders).map(([name, folder]) => [name, join(path, folder)] as const)
  for (const [, place] of places) mkdirSync(place, { recursive: true, mode: 0o700 })
  return { path, variables: { HOME: path, USERPROFILE: path, ...Object.fromEntries(places) } }
}

function ownFolders(manifest: Pick<AgentCliManifest, 'metadata'>): Readonly<Record<string, string>> {
  const stated = Object.entries(asRecord(manifestHint(manifest, 'homes')))
  return Object.fromEntries(stated.filter(isOwnFolder))
}

const isOwnFolder = (entry: [string, unknown]): entry is [string, string] =>
  /^[A-Z][A-Z0-9_]*$/.test(entry[0]) && staysBelow(entry[1])
