import type { ErrorCode } from '../errors.js'
import { admin, ok, type Operations, tagged } from './operation.js'
import * as ask from './registry-requests.js'
import * as is from './registry-responses.js'

const READ = ['registry_unavailable', 'registry_invalid'] as const satisfies readonly ErrorCode[]
const LOOK_UP = [...READ, 'adapter_not_found', 'path_invalid', 'install_failed'] as const satisfies readonly ErrorCode[]
const ADD = [
  ...LOOK_UP,
  'adapter_exists',
  'manifest_invalid',
  'version_mismatch',
  'handshake_failed',
  'spawn_failed',
  'timeout',
  'provisioning_busy',
  'storage_failed',
  'stream_limit_reached',
] as const satisfies readonly ErrorCode[]

const PROGRESS = 'Progress; `added` is the last message. Disconnecting cancels it, and nothing is left'

/**
 * The agents of the registry, and what was added from it. All of them need `admin`: they ask other servers and run package
 * managers, and only who may add an agent has a use for them.
 */
export const registryOperations = {
  'GET /registry/agents': admin('searchAgents', {
    summary: 'Lists the agents of the adapters and of the registry of ACP agents',
    calls: 'adapters.search',
    query: ask.agentSearchSchema,
    answers: ok(is.foundAgents, 'Each agent once, also where an adapter and the registry have it'),
    errors: [...READ, 'path_invalid'],
  }),
  'GET /registry/agents/:id': admin('lookUpAgent', {
    summary: 'Returns what adding an agent of the registry would install; installs nothing',
    calls: 'adapters.lookUp',
    query: ask.agentWishSchema,
    answers: ok(is.agentPlan, 'Package, version, licence, scripts and size'),
    errors: LOOK_UP,
  }),
  'POST /registry/agents/:id': admin('addAgent', {
    summary: 'Adds an agent of the registry: installs it, starts it once to see what it offers, and writes its adapter',
    calls: 'adapters.addAgent',
    action: 'agent-add',
    body: ask.addAgentSchema,
    answers: ok(is.addedAgent, 'The adapter and its state', { stream: PROGRESS }),
    errors: ADD,
  }),
  'GET /registry/updates': admin('listUpdates', {
    summary: 'Lists the installed agents for which the registry has another version',
    calls: 'adapters.outdated',
    query: ask.outdatedQuerySchema,
    answers: tagged(is.adapterUpdates, 'The updates'),
    errors: READ,
  }),
  'POST /adapters/:slug/update': admin('updateAgent', {
    summary: 'Replaces an agent by the version of the registry, after it has passed its checks',
    calls: 'adapters.update',
    action: 'agent-update',
    body: ask.updateAgentSchema,
    answers: ok(is.addedAgent, 'The adapter and its state', { stream: PROGRESS }),
    errors: [...ADD, 'adapter_edited'],
  }),
} as const satisfies Operations
