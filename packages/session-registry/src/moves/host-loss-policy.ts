import { realpath } from 'node:fs/promises'
import {
  AgentprotoError,
  NO_WORKSPACE,
  type Principal,
  type Session,
  type WorkspaceResolver,
} from '@agentproto/contracts'
import type { AdapterSessionPolicy } from '@agentproto/contracts/agent'
import type { SpawnAgentRequest } from '@agentproto/contracts/wire'
import type { Roots } from '../delegation/root-folder.js'
import type { RegistryConfig } from '../registry-config.js'

/** Whether another host may continue a session when its own is lost. */

export interface Starting {
  readonly by: Principal
  readonly roots: Roots
  readonly policy: AdapterSessionPolicy
  readonly workspaces: WorkspaceResolver
  readonly config: Pick<RegistryConfig, 'onHostLoss'>
}

/**
 * As its start says, else as the host is configured where that is possible.
 * @throws `invalid_request` where the start asks for what is not possible
 */
export async function hostLossOf(
  request: Pick<SpawnAgentRequest, 'onHostLoss' | 'additionalDirectories'>,
  starting: Starting,
): Promise<Pick<Session, 'onHostLoss'>> {
  const { onHostLoss = starting.config.onHostLoss } = request
  if (onHostLoss === 'wait') return {}
  const reason = await obstacle(request, starting)
  if (reason === undefined) return { onHostLoss }
  if (request.onHostLoss === undefined) return {}
  throw new AgentprotoError('invalid_request', `The session cannot be moved to another host: ${reason}`, {
    expected: 'a start by a person in the own folder of a workspace, with an agent that takes a transcript',
    given: `onHostLoss: ${onHostLoss}`,
    hint: 'Start it in a workspace, or leave out onHostLoss: it then waits for its host',
    data: { field: 'onHostLoss' },
  })
}

async function obstacle(
  { additionalDirectories = [] }: Pick<SpawnAgentRequest, 'additionalDirectories'>,
  { by, roots, policy, workspaces }: Starting,
): Promise<string | undefined> {
  if (by.type === 'session') return 'an agent starts it, and it belongs to the session of that agent'
  if (policy.continuation?.includes('transcript') !== true) return 'its agent does not take the transcript of a session'
  const { workspaceSlug } = roots.place
  if (workspaceSlug === NO_WORKSPACE) return 'it is in no workspace, so no other host knows its folder'
  const { cwd } = await workspaces.resolve({ workspaceSlug })
  if ((await realpath(cwd)) !== roots.folders[0])
    return `no other host knows its folder below the workspace ${workspaceSlug}`
  return additionalDirectories.length === 0 ? undefined : 'no other host knows its additional folders'
}
