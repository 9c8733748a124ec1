import type { AgentConfig, PermissionMode, RunningAgent, Session, StoredSpawn } from '@agentproto/contracts'
import { messageOf } from '../lifecycle/ending.js'

/**
 * The agent's own session mode that fits a permission mode. A permission mode answers what an agent asks; whether it
 * asks at all, its session mode decides. So one is wanted in which it asks: our answers, rules and log then hold for
 * everything that it does. Names are those that agents use (AGH §Permission mode mapping); a manifest says others in
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
  /** It is in a mode that fits, or says nothing of modes. */
  { readonly fits: true } | { readonly set: string } | { readonly warning: string }

/** What a permission mode wants of an agent's session mode. */
export interface ModeWish {
  readonly permissionMode: PermissionMode
  /** Of the manifest: modes that fit each permission mode, the best first. */
  readonly permissionModes?: Readonly<Partial<Record<PermissionMode, readonly string[]>>> | undefined
  /** A caller chose the agent's mode: it is not changed, but a warning says what it means. */
  readonly chosen: boolean
}

/** Chooses among the modes that a running agent offers. */
export function chooseMode({ modes = [], modeId = '' }: AgentConfig, wish: ModeWish): ModeChoice {
  const { permissionMode, permissionModes, chosen } = wish
  const fitting = permissionModes?.[permissionMode] ?? CANDIDATES[permissionMode]
  if (modes.length === 0 || fitting.includes(modeId) || stays(modeId, wish)) return { fits: true }
  if (chosen) return { warning: unasked(modeId, permissionMode) }
  const wanted = fitting.find((id) => modes.some((mode) => mode.id === id))
  if (wanted !== undefined) return { set: wanted }
  return permissionMode === 'approve-all' ? { fits: true } : { warning: unknown(modes, permissionMode) }
}

/** Whether a mode is kept although it is none of those that fit. */
function stays(modeId: string, { permissionMode, permissionModes, chosen }: ModeWish): boolean {
  const byName = permissionModes?.[permissionMode] === undefined
  if (permissionMode !== 'approve-all') return (chosen && !UNASKED.has(modeId)) || (byName && READING.includes(modeId))
  // Everything is allowed already: only a mode that keeps the agent from acting is one to leave.
  return chosen || (byName && !READING.includes(modeId))
}

/**
 * Brings a session's agent to the mode that fits.
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
