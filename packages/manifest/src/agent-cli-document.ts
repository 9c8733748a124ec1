import type { Protocol } from '@agentproto/contracts/agent'

/** What people write in an AGENT-CLI.md, after the schema has been checked (AIP-45, `agent-cli.schema.json`). */
export interface AgentCliDocument {
  readonly name: string
  readonly id: string
  readonly description: string
  readonly version: string
  readonly bin: string
  readonly bin_args?: readonly string[]
  readonly install: readonly InstallMethodDocument[]
  readonly version_check: {
    /** Split like a shell would, never run through one. */
    readonly cmd: string
    /** ECMAScript regular expression; its first group is the version. */
    readonly parse: string
    /** npm semver range. */
    readonly range: string
    readonly timeout_ms?: number
  }
  readonly requires?: {
    readonly os?: readonly ('darwin' | 'linux' | 'windows')[]
    readonly arch?: readonly ('x64' | 'arm64' | 'x86' | 'arm')[]
    readonly min_disk_mb?: number
    readonly min_memory_mb?: number
  }
  readonly setup?: readonly SetupStepDocument[]
  readonly auth?: AuthDocument
  readonly sandbox: string | SandboxDocument
  /** Relative path of a RUNNER.md, or the inline block. */
  readonly runner?: string | RunnerDocument
  readonly protocol: Protocol
  readonly acp?: string
  readonly mcp?: {
    readonly transport: 'stdio' | 'http' | 'sse'
    readonly command?: string
    readonly args?: readonly string[]
    readonly url?: string
  }
  readonly adapter?: string
  readonly session?: {
    readonly mode?: 'ephemeral' | 'persistent' | 'resumable'
    readonly idle_timeout_ms?: number
    readonly max_turns?: number
    readonly context_carryover?: boolean
  }
  readonly models?: {
    readonly default?: string
    /** Absent: any. */
    readonly allowed?: readonly string[]
    /** Slot to variable: the variable of slot `default` gets the model's id, those of other slots are passed through. */
    readonly env?: Readonly<Record<string, string>>
  }
  readonly capabilities?: Readonly<Partial<Record<CapabilityName, boolean>>>
  readonly modes?: readonly ModeDocument[]
  readonly options?: readonly OptionDocument[]
  readonly continuation?: {
    readonly default: ContinuationStrategy
    readonly supported: readonly ContinuationStrategy[]
    readonly pinned_session?: {
      readonly idle_timeout_ms?: number
      readonly key_scope?: readonly KeyScope[]
    }
  }
  readonly examples?: readonly { readonly goal: string; readonly prompt: string; readonly note?: string }[]
  readonly tags?: readonly string[]
  readonly metadata?: Readonly<Record<string, unknown>>
}

export type CapabilityName =
  | 'streaming'
  | 'tool_calls'
  | 'sub_agents'
  | 'file_io'
  | 'multimodal'
  | 'resumable'
  | 'bidirectional'

export type ContinuationStrategy = 'none' | 'pinned-session' | 'transcript' | 'native-resume'
export type KeyScope = 'conversation' | 'operator' | 'user' | 'guild' | 'workspace'

export interface ModeDocument {
  readonly id: string
  readonly description?: string
  readonly bin_args_append?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export interface OptionDocument {
  readonly id: string
  readonly type: 'boolean' | 'integer' | 'string' | 'enum'
  readonly description?: string
  readonly enum?: readonly string[]
  readonly default?: boolean | number | string
  readonly min?: number
  readonly max?: number
  readonly bin_args_template?: readonly string[]
  readonly bin_args_append_when_true?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export interface InstallMethodDocument {
  readonly method: string
  readonly experimental?: boolean
  readonly package?: string
  readonly global?: boolean
  readonly user?: boolean
  readonly url?: string
  readonly verify_sha256?: string
  readonly extract_bin?: string
  readonly path?: string
}

export interface AuthDocument {
  /** Relative path of a SECRETS.md. */
  readonly ref?: string
  readonly state?: { readonly paths?: readonly string[]; readonly env?: readonly string[] }
  readonly login?: {
    readonly cmd: string
    readonly interactive?: boolean
    readonly requires_callback_url?: boolean
    readonly completes_when?: { readonly cmd: string; readonly exit_code?: number }
  }
  /** `every` is an ISO-8601 duration. */
  readonly refresh?: { readonly cmd: string; readonly every?: string }
  readonly expiry?: { readonly detect: string }
}

export interface SetupStepDocument {
  readonly id: string
  readonly kind: 'cmd' | 'prompt' | 'oauth' | 'external'
  readonly description?: string
  readonly skip_if?: { readonly cmd: string; readonly exit_code?: number; readonly timeout_ms?: number }
  readonly cmd?: string
  readonly timeout_ms?: number
  readonly interactive?: boolean
  readonly prompt?: string
  readonly type?: 'text' | 'select' | 'boolean' | 'secret'
  readonly default?: string
  readonly options?: readonly string[] | { readonly cmd: string; readonly timeout_ms?: number }
  readonly secret_slug?: string
  readonly url?: string
  readonly callback?: { readonly param?: string; readonly timeout_ms?: number }
  readonly persist?: { readonly env: string } | { readonly secret_slug: string } | { readonly cmd: string }
}

/** Inline, or a SANDBOX.md, which also says what it is. */
export interface SandboxDocument extends Partial<Record<'schema' | 'id' | 'version' | 'name' | 'description', string>> {
  readonly provider: string
  readonly config?: Readonly<Record<string, unknown>>
  readonly limits?: LimitsDocument
  readonly env?: {
    readonly auth?: { readonly ref?: string; readonly state?: { readonly env?: readonly string[] } }
    readonly passthrough?: readonly string[]
    readonly set?: Readonly<Record<string, string>>
  }
  readonly network?: { readonly egress?: readonly string[]; readonly ingress?: readonly string[] }
  readonly mounts?: readonly {
    readonly source: 'workspace' | { readonly ref: string } | { readonly file: string } | { readonly inline: unknown }
    readonly at: string
    readonly mode?: 'read-write' | 'read-only'
  }[]
  readonly lifecycle?: { readonly pause_after_idle?: unknown; readonly destroy_on?: unknown }
  readonly read_only?: boolean
  readonly fs?: {
    readonly read?: readonly string[]
    readonly write?: readonly string[]
    readonly deny?: readonly string[]
  }
  readonly exec?: { readonly allow: boolean; readonly spawn?: readonly string[] }
  readonly tty?: { readonly required?: boolean }
  readonly identity?: unknown
  readonly policy?: unknown
  readonly metadata?: Readonly<Record<string, unknown>>
}

interface LimitsDocument {
  readonly timeout_ms?: number
  readonly memory_mb?: number
  readonly cpu_ms?: number
}

/** AIP-17, inline or in a RUNNER.md. */
export interface RunnerDocument {
  readonly engine?: 'subprocess' | 'sandbox' | 'in-process'
  readonly image?: string
  readonly needs?: {
    readonly language?: 'node' | 'python' | 'multi'
    readonly native?: readonly string[]
    readonly npm?: readonly string[]
    readonly pip?: readonly string[]
  }
  readonly limits?: LimitsDocument
}
