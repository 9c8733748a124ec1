import type { AdapterService, AddAgentEvent } from '@agentproto/contracts/wire'
import { eventStream } from '../event-stream.js'
import { createProvisioner } from '../provisioner.js'
import { storing } from '../storing.js'
import { addAgent } from './add-agent.js'
import type { Adding } from './adding.js'
import { outdatedAgents } from './outdated-agents.js'
import { planAgent } from './plan-agent.js'
import type { RegistryParts } from './registry-parts.js'
import { searchAgents } from './search-agents.js'
import { updateAgent } from './update-agent.js'

/** What can be asked of the registry. */
export type AgentRegistry = Pick<AdapterService, 'search' | 'lookUp' | 'addAgent' | 'outdated' | 'update'>

/** The agents of the registry: which there are, and how one becomes an adapter. */
export function agentRegistry(parts: RegistryParts): AgentRegistry {
  /** Runs work that ends with an adapter. */
  const adding = (
    work: (adding: Adding) => Promise<string>,
    signal: AbortSignal | undefined,
  ): AsyncIterable<AddAgentEvent> =>
    eventStream<AddAgentEvent>(
      async (emit, ending) => {
        const slug = await storing(parts.host.home, () => work({ parts, emit, signal: ending }))
        const [adapter, loaded] = await Promise.all([parts.catalog.get(slug), parts.catalog.adapter(slug)])
        emit({ type: 'added', adapter, state: await createProvisioner(loaded, parts.host).state() })
      },
      { signal, expendable: ({ type }) => type === 'output' || type === 'progress' },
    )

  return {
    search: (query, signal) => searchAgents(query, parts, signal),
    lookUp: async (id, wish, signal = new AbortController().signal) =>
      (await planAgent(id, wish, { parts, signal })).plan,
    addAgent: (id, { signal, ...request }) => adding((each) => addAgent(id, request, each), signal),
    outdated: (query, signal) => outdatedAgents(query, parts, signal),
    update: (slug, { signal, ...request }) => adding((each) => updateAgent(slug, request, each), signal),
  }
}
