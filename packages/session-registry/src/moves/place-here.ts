import { AgentprotoError, type Principal } from '@agentproto/contracts'
import type { AdapterSessionPolicy } from '@agentproto/contracts/agent'
import { type Asker, type Roots, rootsOf } from '../delegation/root-folder.js'
import { assertContinuation } from '../lifecycle/resume.js'
import type { SessionHost } from '../session-host.js'
import type { LostFacts } from './lost-facts.js'

/** Where a session of another host runs here: in the folder of the workspace of that name. No path of the other host is used. */

export interface Placed {
  readonly policy: AdapterSessionPolicy
  readonly roots: Roots
}

export type PlaceHost = Pick<SessionHost, 'adapters' | 'workspaces'>

/** The fleet asks for it, not a caller. */
export const FLEET: Principal = { type: 'owner', name: 'fleet' }

export const fleetAsker = ({ workspaces }: PlaceHost): Asker => ({ by: FLEET, workspaces, within: () => [] })

/**
 * @throws `adapter_not_found`, `agent_not_installed`, `continuation_unsupported` where the agent takes no transcript,
 *   `workspace_not_found`, `cwd_invalid`
 */
export async function placeHere(
  { adapterSlug, workspaceSlug }: Pick<LostFacts, 'adapterSlug' | 'workspaceSlug'>,
  host: PlaceHost,
): Promise<Placed> {
  const adapter = await host.adapters.get(adapterSlug)
  if (!adapter.installed)
    throw new AgentprotoError('agent_not_installed', 'The agent of the session is not installed on this host', {
      given: adapterSlug,
      hint: `Install it with: agentproto adapters install ${adapterSlug}`,
    })
  assertContinuation(adapter.session, 'transcript')
  const roots = await rootsOf({ workspaceSlug }, fleetAsker(host))
  return { policy: adapter.session, roots }
}
