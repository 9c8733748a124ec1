import type { RegistryEntry } from '@agentproto/acp-registry'
import { defined, isAgentprotoError } from '@agentproto/contracts'
import type { AgentSearch, FoundAgent, FoundAgents } from '@agentproto/contracts/wire'
import { locateAgent } from '@agentproto/driver-agent-cli'
import type { LoadedAdapter } from '../catalog/manifest-catalog.js'
import { downloadBytes } from './download-bytes.js'
import { type Origin, originOf } from './origin.js'
import { type ReadAgents, readAgents } from './read-agents.js'
import type { RegistryParts } from './registry-parts.js'
import { type InstallPlace, installPlace, wayHere } from './way-here.js'

/**
 * The agents of the adapters and of the registry, each once. A registry that cannot be read is a warning: the adapters are listed.
 * @throws `path_invalid` and `registry_invalid` for a file, `cancelled`
 */
export async function searchAgents(
  { text = '', sizes = false, ...choice }: AgentSearch,
  parts: RegistryParts,
  signal?: AbortSignal,
): Promise<FoundAgents> {
  const [known, place, read] = await Promise.all([
    Promise.all(await parts.catalog.map((adapter) => describeAdapter(adapter, parts))),
    installPlace(parts.host),
    readIfPossible(choice, parts, signal),
  ])
  const agents = typeof read === 'string' ? [] : read.agents
  const entries = new Map(agents.map((entry) => [entry.id, entry]))
  const taken = new Set(known.map(({ entryId }) => entryId))
  const rest = agents.filter(({ id }) => !taken.has(id))
  const found = [
    ...known.map((adapter) => withEntry(adapter, entries.get(adapter.entryId ?? ''), place)),
    ...rest.map((entry) => fromEntry(entry, place)),
  ]
  const wanted = found.filter(({ texts }) => hasAllWords(texts, text)).map(({ agent }) => agent)
  const listed = sizes ? await withSizes(wanted, { entries, place, parts, signal }) : wanted
  return typeof read === 'string' ? { agents: listed, warning: read } : { agents: listed, registry: read.state }
}

/** Why it could not be read, as a text. A file that the caller named must be readable. */
async function readIfPossible(
  choice: Pick<AgentSearch, 'mode' | 'from'>,
  parts: RegistryParts,
  signal: AbortSignal | undefined,
): Promise<ReadAgents | string> {
  try {
    return await readAgents(choice, parts, signal)
  } catch (thrown) {
    if (choice.from !== undefined || !isAgentprotoError(thrown) || !UNREADABLE.has(thrown.code)) throw thrown
    return thrown.message
  }
}

const UNREADABLE: ReadonlySet<string> = new Set(['registry_unavailable', 'registry_invalid'])

interface KnownAgent {
  readonly agent: FoundAgent
  readonly entryId?: string
}

/** What the adapter of a workspace says of the registry and of tests is not taken for true. */
async function describeAdapter({ manifest, source }: LoadedAdapter, { host }: RegistryParts): Promise<KnownAgent> {
  const { registryId, entry, tested }: Origin = source === 'workspace' ? {} : originOf(manifest)
  const installed = (await locateAgent(manifest, host)) !== undefined
  const { id: slug, name, description } = manifest
  return {
    agent: { slug, name, description, installed, ...defined({ tested }) },
    ...defined({ entryId: registryId ?? entry?.id }),
  }
}

/** An agent with the texts that are searched. */
interface Candidate {
  readonly agent: FoundAgent
  readonly texts: readonly string[]
}

function withEntry({ agent }: KnownAgent, entry: RegistryEntry | undefined, place: InstallPlace): Candidate {
  const own = [agent.slug ?? '', agent.name, agent.description]
  if (entry === undefined) return { agent, texts: own }
  const there = fromEntry(entry, place)
  // What the adapter says counts, and the people's name of the entry.
  const { name } = there.agent
  return { agent: { ...there.agent, ...agent, name }, texts: [...own, ...there.texts] }
}

function fromEntry(entry: RegistryEntry, place: InstallPlace): Candidate {
  const { id, name, description, version, license, website, repository, authors } = entry
  const way = wayHere(entry, place)
  const agent = {
    registryId: id,
    name,
    description,
    version,
    installed: false,
    ...(typeof way === 'string' ? { unavailable: way } : { way: way.way }),
    ...defined({ license, homepage: website ?? repository }),
  }
  return { agent, texts: [id, name, description, ...authors] }
}

function hasAllWords(texts: readonly string[], wanted: string): boolean {
  const all = texts.join('\n').toLowerCase()
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word))
}

/** More than these would be a burst of requests for one search. */
const SIZES_MAX = 5

interface Sizing {
  readonly entries: ReadonlyMap<string, RegistryEntry>
  readonly place: InstallPlace
  readonly parts: RegistryParts
  readonly signal: AbortSignal | undefined
}

async function withSizes(
  agents: readonly FoundAgent[],
  { entries, place, parts, signal }: Sizing,
): Promise<readonly FoundAgent[]> {
  const unknown = agents.filter(({ slug }) => slug === undefined)
  if (unknown.length > SIZES_MAX) return agents
  return Promise.all(
    agents.map(async (agent) => {
      const entry = agent.slug === undefined ? entries.get(agent.registryId ?? '') : undefined
      const way = entry && wayHere(entry, place)
      if (typeof way !== 'object') return agent
      return { ...agent, ...defined({ bytes: await downloadBytes(way, parts.host, signal) }) }
    }),
  )
}
