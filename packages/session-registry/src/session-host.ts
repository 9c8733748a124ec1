import { type Clock, type NewId, randomId, systemClock } from '@agentproto/contracts'
import { MemoryRuleStore } from './permissions/file-rule-store.js'
import { WorkspaceRules } from './permissions/workspace-rules.js'
import { DEFAULT_REGISTRY_CONFIG, type RegistryConfig } from './registry-config.js'
import type { SessionRegistryOptions } from './registry-options.js'
import type { SessionHandle } from './session/session-handle.js'

/** What all sessions of a registry share. */
export interface SessionHost extends Omit<
  SessionRegistryOptions,
  'clock' | 'newId' | 'config' | 'onProblem' | 'rules'
> {
  readonly clock: Clock
  readonly newId: NewId
  readonly config: RegistryConfig
  readonly workspaceRules: WorkspaceRules
  readonly onProblem: (problem: string) => void
  /** The live sessions that the agent of a session has started. */
  readonly childrenOf: (id: string) => readonly SessionHandle[]
  /** Stores the record of a session; resolves when that is done. A failure is reported as a problem. */
  readonly keep: (session: SessionHandle) => Promise<void>
  /** Urgent changes are stored and published at once, others when some have come together. */
  readonly onChange: (session: SessionHandle, isUrgent: boolean) => void
  /** An ended session was not read for a while, and its log is closed. */
  readonly onUnread: (session: SessionHandle) => void
}

/** The options of a registry with their defaults. */
export function withDefaults(
  options: SessionRegistryOptions,
): SessionRegistryOptions & Pick<SessionHost, 'clock' | 'newId' | 'config' | 'workspaceRules' | 'onProblem'> {
  const { clock = systemClock, newId = randomId, config, rules = new MemoryRuleStore(), workspaces } = options
  return {
    ...options,
    clock,
    newId,
    config: { ...DEFAULT_REGISTRY_CONFIG, ...config },
    workspaceRules: new WorkspaceRules(rules, workspaces),
    onProblem: options.onProblem ?? (() => undefined),
  }
}
