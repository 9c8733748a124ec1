/** What an arm emits about the session, beside the events of a turn; the registry logs it as host events, in order. */

export interface PlanEntry {
  readonly content: string
  readonly status: 'pending' | 'in_progress' | 'completed'
  readonly priority?: 'high' | 'medium' | 'low'
}

export interface AgentMode {
  readonly id: string
  readonly name: string
  readonly description?: string
}

export interface AgentCommand {
  readonly name: string
  readonly description: string
  readonly hint?: string
}

/** One setting that the running agent offers. */
export interface ConfigOption {
  readonly id: string
  readonly name: string
  readonly description?: string
  /** `mode`, `model`, `thought_level`, or the agent's own. */
  readonly category?: string
  readonly value: string | boolean
  /** The allowed values; absent for a boolean. */
  readonly values?: readonly { readonly value: string; readonly name: string; readonly description?: string }[]
}

/** The settings of the running agent; absent members are unchanged. */
export interface AgentConfig {
  readonly modeId?: string
  readonly modes?: readonly AgentMode[]
  readonly modelId?: string
  readonly models?: readonly AgentMode[]
  readonly options?: readonly ConfigOption[]
  readonly commands?: readonly AgentCommand[]
}

export type AgentNotice =
  | { readonly type: 'plan'; readonly entries: readonly PlanEntry[] }
  | {
      readonly type: 'usage'
      /** Tokens in the context window. */
      readonly used?: number
      /** Size of the context window, in tokens. */
      readonly size?: number
      readonly cost?: { readonly amount: number; readonly currency: string }
    }
  | { readonly type: 'config'; readonly config: AgentConfig }
  | { readonly type: 'title'; readonly title: string }
  /** Whole lines of the agent's stderr, or of its stdout if they are not part of the protocol. */
  | { readonly type: 'output'; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  /** A message of the agent to the user: a notice, a compaction. */
  | { readonly type: 'notice'; readonly severity: 'info' | 'warning' | 'error'; readonly text: string }
  /** An update of an unknown kind; it is kept. */
  | { readonly type: 'extension'; readonly kind: string; readonly payload: unknown }
