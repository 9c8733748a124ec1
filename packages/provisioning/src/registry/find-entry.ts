import type { RegistryEntry } from '@agentproto/acp-registry'
import { AgentprotoError, defined } from '@agentproto/contracts'
import { distance } from 'fastest-levenshtein'
import type { ReadAgents } from './read-agents.js'

/** The entry of an id. @throws `adapter_not_found` with the ids that may be meant, or what is wrong with the entry */
export function findEntry(id: string, { agents, state }: Pick<ReadAgents, 'agents' | 'state'>): RegistryEntry {
  const found = agents.find((entry) => entry.id === id)
  if (found !== undefined) return found
  const problem = state.problems.find((each) => each.startsWith(`${id}: `))
  const near = nearIds(id, agents)
  throw new AgentprotoError(
    'adapter_not_found',
    problem === undefined ? 'The registry has no such agent' : `The entry of the registry cannot be used: ${problem}`,
    {
      given: id.slice(0, GIVEN_CHARS),
      hint: 'Find one with: agentproto adapters search',
      ...defined({ expected: near.length === 0 ? undefined : `one of its ids, such as ${near.join(', ')}` }),
      data: { near },
    },
  )
}

const GIVEN_CHARS = 80
const NEAR_MAX = 3

/** Ids with this one in them, then those that differ in few letters. */
function nearIds(id: string, agents: readonly RegistryEntry[]): readonly string[] {
  const wanted = id.toLowerCase().slice(0, GIVEN_CHARS)
  const most = Math.max(2, Math.floor(wanted.length / 3))
  return agents
    .map((entry) => ({ id: entry.id, edits: entry.id.includes(wanted) ? 0 : distance(entry.id, wanted) }))
    .filter(({ edits }) => edits <= most)
    .toSorted((a, b) => a.edits - b.edits)
    .slice(0, NEAR_MAX)
    .map((near) => near.id)
}
