import type { AgentCliManifest } from '@agentproto/manifest'
import { manifestHint, member } from './manifest-hint.js'

/**
 * The agent's own mode that a mode of the manifest stands for, by `metadata.agentproto.session_modes`: for agents
 * that take no flag and no variable for a mode, but change it in an open session. The names of the two differ
 * because AIP-45 allows lower-case ids alone.
 */
export function sessionMode(
  { metadata }: Pick<AgentCliManifest, 'metadata'>,
  mode: string | undefined,
): string | undefined {
  const modes = manifestHint({ metadata }, 'session_modes')
  const named = mode === undefined ? undefined : member(modes, mode)
  return typeof named === 'string' && named !== '' ? named : undefined
}
