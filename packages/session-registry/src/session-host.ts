import {
  type Clock,
  type EventStore,
  type NewId,
  randomId,
  type SessionEvent,
  type StartAgent,
  systemClock,
} from '@agentproto/contracts'
import type { CrashBundleStore } from './lifecycle/crash-bundle.js'
import type { HostedSession } from './hosted-session.js'
import type { RequestGate } from './requests/request-gate.js'
import { MemoryRuleStore } from './permissions/file-rule-store.js'
import { WorkspaceRules } from './permissions/workspace-rules.js'
import { DEFAULT_REGISTRY_CONFIG, type RegistryConfig } from './registry-config.js'
import type { SessionRegistryOptions } from './registry-options.js'

/** What all sessions of a registry share. */
export interface SessionHost {
  readonly clock: Clock
  readonly newId: NewId
  readonly logs: EventStore
  readonly startAgent: StartAgent
  readonly config: RegistryConfig
  readonly redact?: (text: string) => string
  readonly crashBundles?: CrashBundleStore
  readonly gate?: RequestGate
  readonly workspaceRules: WorkspaceRules
  readonly onProblem: (problem: string) => void
  /** The live ones that the agent of a session has started. */
  readonly childrenOf: (id: string) => readonly HostedSession[]
  /** The agent of a session may do nothing any more. */
  readonly onAgentEnding?: (id: string) => void
  /** Stores its record; resolves when that is done. A failure is told as a problem. */
  readonly keep: (session: HostedSession) => Promise<void>
  /** `urgent` changes are stored and told at once, others when they have piled up. */
  readonly onChange: (session: HostedSession, urgent: boolean) => void
  /** Told each batch that is stored, and whether it is `urgent`. */
  readonly onEvents?: (events: readonly SessionEvent[], urgent: boolean) => void
  /** Nobody has read an ended session for a while, and its journal is closed. */
  readonly onUnread: (session: HostedSession) => void
}

/** What a registry is given, or takes by default. */
export function ownOf(
  options: SessionRegistryOptions,
): Pick<SessionHost, 'clock' | 'newId' | 'config' | 'workspaceRules'> {
  const { clock = systemClock, newId = randomId, config, rules = new MemoryRuleStore(), workspaces } = options
  const workspaceRules = new WorkspaceRules(rules, workspaces)
  return { clock, newId, config: { ...DEFAULT_REGISTRY_CONFIG, ...config }, workspaceRules }
}

type FromOptions = 'logs' | 'startAgent' | 'redact' | 'crashBundles' | 'onEvents' | 'onAgentEnding' | 'gate'

export const sessionHost = (
  { logs, startAgent, redact, crashBundles, onEvents, onAgentEnding, gate }: SessionRegistryOptions,
  own: Omit<SessionHost, FromOptions>,
): SessionHost => ({
  ...own,
  logs,
  startAgent,
  ...(redact === undefined ? {} : { redact }),
  ...(gate === undefined ? {} : { gate }),
  ...(crashBundles === undefined ? {} : { crashBundles }),
  ...(onEvents === undefined ? {} : { onEvents }),
  ...(onAgentEnding === undefined ? {} : { onAgentEnding }),
})
