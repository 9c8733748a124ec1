import * as z from 'zod'
import { REGISTRY_WAYS } from '../agent/registry-ways.js'
import { adapter, adapterState } from './host-responses.js'
import { count, time } from './session-responses.js'
import type { ValueOf } from './value-of.js'

// What the gateway answers about the agents of the registry.

const way = z.enum(REGISTRY_WAYS)

const foundAgent = z.object({
  /** Of the adapter that starts it; absent for an agent that is only in the registry. */
  slug: z.string().optional(),
  /** By which it is added; absent for an agent that is not in the registry. */
  registryId: z.string().optional(),
  name: z.string(),
  description: z.string(),
  /** In the registry. */
  version: z.string().optional(),
  license: z.string().optional(),
  homepage: z.string().optional(),
  /** Whether its executable is on this host. */
  installed: z.boolean(),
  /** What its manifest was tested with, such as `opencode 1.18.33`; absent for an agent that agentproto was not tested with. */
  tested: z.string().optional(),
  /** How the entry of the registry would be installed here. */
  way: way.optional(),
  /** Why that is not possible. */
  unavailable: z.string().optional(),
  bytes: count.optional().describe('Of its package without dependencies, or of its download'),
})
/** An agent of the catalogue, of the registry, or of both. */
export type FoundAgent = ValueOf<typeof foundAgent>

const registryState = z.object({
  /** Where it was read: its address, or a file. */
  source: z.string(),
  /** How many agents it has. */
  agents: count,
  /** Entries that are left out, and parts of entries. */
  problems: z.array(z.string()),
  /** When it was last asked, and had this content. */
  confirmedAt: time.optional(),
  ageMs: count.optional(),
  /** Why it is older than it should be. */
  warning: z.string().optional(),
})
/** The registry as it was read. */
export type RegistryState = ValueOf<typeof registryState>

export const foundAgents = z.object({
  /** Those that can be started first, then by name. */
  agents: z.array(foundAgent),
  registry: registryState.optional(),
  /** Why the registry could not be read: then only the adapters are here. */
  warning: z.string().optional(),
})
export type FoundAgents = ValueOf<typeof foundAgents>

export const agentPlan = z.object({
  registryId: z.string(),
  /** Of the adapter. */
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  /** Of the entry. */
  version: z.string(),
  license: z.string().optional(),
  authors: z.array(z.string()),
  homepage: z.string().optional(),
  /** The adapter of the catalogue for this agent, which is installed in place of the entry. */
  catalogue: z.object({ slug: z.string(), tested: z.string().optional() }).optional(),
  way: way.optional(),
  /** With its version, as its package manager writes it. */
  package: z.string().optional(),
  /** The version that was wanted and is not there: `package` has the nearest one. */
  missing: z.string().optional(),
  /** Why its authors say that the package should not be used. */
  deprecated: z.string().optional(),
  /** Whether the package itself has scripts that npm runs when it installs it. */
  installScripts: z.boolean().optional(),
  /** With which its program is started in each session. */
  args: z.array(z.string()).optional(),
  variables: z
    .object({ passed: z.array(z.string()), set: z.record(z.string(), z.string()) })
    .optional()
    .describe(
      'What its program gets in each session: variables that are set, and names of those that it gets from the host',
    ),
  /** Of a download. */
  url: z.string().optional(),
  /** That a download must have; absent if none is known. */
  sha256: z.string().optional(),
  bytes: count.optional().describe('Of the package without dependencies, or of the download'),
  /** An adapter of the owner that it replaces. */
  replaces: z.object({ version: z.string().optional(), edited: z.boolean() }).optional(),
})
/** What adding an agent would install. */
export type AgentPlan = ValueOf<typeof agentPlan>

export const addedAgent = z.object({ adapter, state: adapterState })
export type AddedAgent = ValueOf<typeof addedAgent>

const adapterUpdate = z.object({
  slug: z.string(),
  registryId: z.string(),
  /** Of the agent here, as far as it is known. */
  installed: z.string().optional(),
  /** Of the entry now. */
  available: z.string(),
  /** Whether the adapter is one of the catalogue: only its agent is replaced. */
  bundled: z.boolean(),
  /** Whether the owner has edited its manifest, which an update would replace. */
  edited: z.boolean(),
})
export type AdapterUpdate = ValueOf<typeof adapterUpdate>

export const adapterUpdates = z.object({
  updates: z.array(adapterUpdate),
  registry: registryState.optional(),
  /** Adapters whose entry is no longer in the registry. */
  gone: z.array(z.string()),
})
/** The installed agents for which the registry has another version. */
export type AdapterUpdates = ValueOf<typeof adapterUpdates>
