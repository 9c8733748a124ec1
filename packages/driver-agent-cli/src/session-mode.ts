import type { AgentCliManifest } from '@agentproto/manifest'

/**
 * The agent's own mode that a mode of the manifest stands for, by `metadata.agentproto.session_modes`: for agents
 * that take no flag and no variable for a mode, but change it in an open session. The names of the two differ
 * because AIP-45 allows lower-case ids alone.
 */
export function sessionMode(
  { metadata }: Pick<AgentCliManifest, 'metadata'>,
  mode: string | undefined,
): string | undefined {
  const modes = field(field(metadata, 'agentproto'), 'session_modes')
  const named = mode === undefined ? undefined : field(modes, mode)
  return typeof named === 'string' && named !== '' ? named : undefined
}

const field = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined
