import { createPreparation, createWorktrees } from '@agentproto/changes'
import type { SessionRegistryOptions } from '@agentproto/session-registry'
import type { Agents } from './open-agents.js'
import type { Settings } from './settings.js'

/** Worktrees of sessions: in the home, of a gateway that has one. */
export function sessionWorktrees(
  { inMemory, layout, env = process.env, clock }: Settings,
  { isTrusted }: Pick<Agents, 'isTrusted'>,
): Pick<SessionRegistryOptions, 'worktrees'> {
  if (inMemory) return {}
  const git = createWorktrees({ env, clock })
  return { worktrees: { git, root: layout.worktrees, prepare: createPreparation({ isTrusted, env, clock }) } }
}
