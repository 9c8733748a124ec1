import type { AgentConfig, PermissionMode, Session } from '@agentproto/contracts'
import type { RunningAgent, StoredSpawn } from '@agentproto/contracts/agent'
import { messageOf } from '../lifecycle/ending.js'

/**
 * The agent's own session mode that fits a permission mode. A permission mode answers requests of an agent, but its
 * session mode decides whether it makes any. So we choose one in which it asks; our rules and log then cover everything
 * that it does. The names are those that agents use (AGH §Permission mode mapping); a manifest lists others in
 * `metadata.agentproto.permission_modes`.
 */

/** An agent in one of these asks before it acts. */
const ASKING = ['default', 'ask', 'manual']
/** In one of these it only reads, or asks before it does more. */
const READ_ONLY = ['read-only', 'read_only', 'readOnly']
/** In one of these it does not act. That fits where it is to read only, not where a person wants to be asked. */
const READING = [...READ_ONLY, 'plan']
/** In one of these it acts without asking. */
const ACTING = ['full-access', 'full_access', 'bypassPermissions', 'bypass_permissions', 'auto', 'acceptEdits']
/** Further names for that, which are never chosen. */
const UNASKED: ReadonlySet<string> = new Set([...ACTING, 'yolo', 'autoEdit', 'auto-edit', 'autopilot', 'dontAsk'])

const CANDIDATES: Readonly<Record<PermissionMode, readonly string[]>> = {
  ask: [...ASKING, ...READ_ONLY],
  'approve-reads': [...ASKING, ...READING],
  'approve-all': [...ASKING, ...ACTING],
  'deny-all': [...ASKING, ...READING],
}

export type ModeChoice =
  /** It is in a fitting mode, or reports no modes. */
  { readonly fits: true } | { readonly set: string } | { readonly warning: string }

/** What a permission mode requires of an agent's session mode. */
export interface RequiredMode {
  readonly permissionMode: PermissionMode
  /** From the manifest: fitting modes for each permission mode, the best first. */
  readonly permissionModes?: Readonly<Partial<Record<PermissionMode, readonly string[]>>> | undefined
  /** A caller chose the agent's mode: it is not changed, but a warning says what it means. */
  readonly chosen: boolean
}

/** Chooses among the modes that a running agent offers. */
export function chooseMode({ modes = [], modeId = '' }: AgentConfig, required: RequiredMode): ModeChoice {
  const { permissionMode, permissionModes, chosen } = required
  const fitting = permissionModes?.[permissionMode] ?? CANDIDATES[permissionMode]
  if (modes.length === 0 || fitting.includes(modeId) || stays(modeId, required)) return { fits: true }
  if (chosen) return { warning: unasked(modeId, permissionMode) }
  const wanted = fitting.find((id) => modes.some((mode) => mode.id === id))
  if (wanted !== undefined) return { set: wanted }
  return permissionMode === 'approve-all' ? { fits: true } : { warning: unknown(modes, permissionMode) }
}

/** Whether a mode is kept although it is not a fitting one. */
function stays(modeId: string, { permissionMode, permissionModes, chosen }: RequiredMode): boolean {
  const byName = permissionModes?.[permissionMode] === undefined
  if (permissionMode !== 'approve-all') return (chosen && !UNASKED.has(modeId)) || (byName && READING.includes(modeId))
  // Everything is allowed, so only a mode in which the agent does not act is left.
  return chosen || (byName && !READING.includes(modeId))
}

/**
 * Sets a session's agent to a fitting mode.
 * @returns a warning for people, if there is one
 */
export async function fitMode(
  agent: RunningAgent,
  { permissionMode, config = {} }: Pick<Session, 'permissionMode' | 'config'>,
  { policy, mode, changes = [] }: StoredSpawn,
): Promise<string | undefined> {
  const chosen = mode !== undefined || changes.some((change) => 'mode' in change)
  const choice = chooseMode(config, { permissionMode, chosen, permissionModes: policy?.permissionModes })
  if ('warning' in choice) return choice.warning
  if (!('set' in choice)) return undefined
  try {
    await agent.configure({ mode: choice.set })
    return undefined
  } catch (refused) {
    return `The agent could not be set to its mode ${choice.set}, which fits the permission mode ${permissionMode}: ${messageOf(refused)}`
  }
}

const unasked = (modeId: string, permissionMode: PermissionMode): string =>
  `In its mode ${modeId} the agent acts without asking, whatever the permission mode ${permissionMode} says`

const unknown = (modes: NonNullable<AgentConfig['modes']>, permissionMode: PermissionMode): string =>
  `None of the agent's modes (${modes.map(({ id }) => id).join(', ')}) is known to ask: it may act without asking, whatever the permission mode ${permissionMode} says`
