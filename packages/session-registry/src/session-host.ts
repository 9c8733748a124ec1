import { randomId, systemClock } from '@agentproto/contracts'
import { MemoryRuleStore } from './permissions/file-rule-store.js'
import { WorkspaceRules } from './permissions/workspace-rules.js'
import { DEFAULT_REGISTRY_CONFIG } from './registry-config.js'
import type { SessionRegistryOptions } from './registry-options.js'
import type { SessionHandle } from './session/session-handle.js'
import { MemoryUsageStore } from './usage/memory-usage-store.js'
import type { UsageLedger } from './usage/usage-ledger.js'

const DEFAULT_CHECKPOINT_AGE_MS = 30 * 24 * 60 * 60_000

/** What all sessions of a registry share. */
export interface SessionHost extends ReturnType<typeof withDefaults> {
  /** The live sessions that the agent of a session has started. */
  readonly childrenOf: (id: string) => readonly SessionHandle[]
  /** @throws `session_not_found` */
  readonly find: (id: string) => SessionHandle
  /** Stores the record of a session; resolves when that is done. A failure is reported as a problem. */
  readonly keep: (session: SessionHandle) => Promise<void>
  /** Urgent changes are stored and published at once, others when some have come together. */
  readonly onChange: (session: SessionHandle, isUrgent: boolean) => void
  /** An ended session was not read for a while, and its log is closed. */
  readonly onUnread: (session: SessionHandle) => void
  /** What all sessions use. */
  readonly ledger: UsageLedger
}

/** The options of a registry with their defaults. */
export function withDefaults({
  rules = new MemoryRuleStore(),
  usage = new MemoryUsageStore(),
  config,
  ...options
}: SessionRegistryOptions) {
  const { clock = systemClock, newId = randomId, onProblem = (): void => undefined } = options
  const { checkpointAgeMs = DEFAULT_CHECKPOINT_AGE_MS } = options
  return {
    ...options,
    clock,
    newId,
    onProblem,
    usage,
    checkpointAgeMs,
    config: { ...DEFAULT_REGISTRY_CONFIG, ...config },
    workspaceRules: new WorkspaceRules(rules, options.workspaces),
  }
}
