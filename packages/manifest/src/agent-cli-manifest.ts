import type { AdapterSessionPolicy } from '@agentproto/contracts/agent'
import type {
  AgentCliDocument,
  AuthDocument,
  CapabilityName,
  ModeDocument,
  OptionDocument,
  SandboxDocument,
  SetupStepDocument,
} from './agent-cli-document.js'
import type { AgentCliWire } from './agent-cli-wire.js'
import type { CamelKey, CamelKeys } from './camel-keys.js'

/** An AGENT-CLI.md as programs use it: checked, keys in camel case, defaults filled in. */
export type AgentCliManifest = AgentCliCommon & AgentCliWire

export interface AgentCliCommon
  extends
    Pick<AgentCliDocument, 'name' | 'id' | 'description' | 'version' | 'bin'>,
    Required<Pick<AgentCliDocument, 'examples' | 'tags' | 'metadata'>> {
  readonly binArgs: readonly string[]
  /** In the order in which they are tried. */
  readonly install: readonly InstallMethod[]
  readonly versionCheck: VersionCheck
  readonly requires: Requires
  readonly setup: readonly SetupStep[]
  readonly auth?: Auth
  readonly sandbox: SandboxSource
  readonly runner?: RunnerSource
  readonly session: SessionPolicy
  readonly models: Models
  readonly capabilities: ManifestCapabilities
  readonly modes: readonly Mode[]
  readonly options: readonly Option[]
  /** Absent when the manifest has none. A session of the gateway is pinned in any case. */
  readonly continuation?: Continuation
}

/** AIP-45 `session`; `idleTimeoutMs` is absent when the manifest does not set it. */
interface SessionPolicy extends AdapterSessionPolicy {
  readonly contextCarryover: boolean
}

/** Package managers that need only the name of a package. */
export const PACKAGE_MANAGERS = ['brew', 'apt', 'dnf', 'pacman', 'choco', 'scoop', 'cargo', 'go'] as const
export type PackageManager = (typeof PACKAGE_MANAGERS)[number]

/** AIP-29's install methods. */
export const INSTALL_METHODS = [...PACKAGE_MANAGERS, 'npm', 'pip', 'curl', 'download', 'vendored'] as const
/** Methods that AIP-29 does not have. A manifest marks them as experimental, so that other hosts skip them. */
export const OWN_METHODS = ['uv'] as const
export type InstallMethodName = (typeof INSTALL_METHODS)[number] | (typeof OWN_METHODS)[number]

export type InstallMethod = { readonly experimental: boolean } & (
  | { readonly method: PackageManager; readonly package: string }
  | { readonly method: 'npm'; readonly package: string; readonly global: boolean }
  | { readonly method: 'pip'; readonly package: string; readonly user: boolean }
  | { readonly method: 'uv'; readonly package: string }
  | { readonly method: 'curl'; readonly url: string; readonly verifySha256?: string }
  | { readonly method: 'download'; readonly url: string; readonly extractBin: string; readonly verifySha256?: string }
  | { readonly method: 'vendored'; readonly path: string }
  /** An unknown method, which must be experimental. It is skipped with a warning. */
  | { readonly method: 'unknown'; readonly name: string }
)

export type VersionCheck = Required<CamelKeys<AgentCliDocument['version_check']>>

/** An absent list means any. */
type Requires = CamelKeys<Block<'requires'>>

type Block<K extends keyof AgentCliDocument> = NonNullable<AgentCliDocument[K]>

export interface Auth extends Pick<AuthDocument, 'ref' | 'refresh'> {
  readonly state: Required<NonNullable<AuthDocument['state']>>
  readonly login?: {
    readonly cmd: string
    readonly interactive: boolean
    readonly requiresCallbackUrl: boolean
    readonly completesWhen?: { readonly cmd: string; readonly exitCode: number }
  }
  readonly expiry?: { readonly exitCode: number }
}

type StepFields = Required<CamelKeys<SetupStepDocument>>

export type SetupStep = Pick<SetupStepDocument, 'id' | 'description'> & {
  readonly skipIf?: Required<CamelKeys<StepFields['skipIf']>>
} & (
    | ({ readonly kind: 'cmd' } & Pick<StepFields, 'cmd' | 'timeoutMs' | 'interactive'> & Persisted)
    | ({ readonly kind: 'prompt' } & Pick<StepFields, 'prompt' | 'type'> & Choices & Persisted)
    | ({ readonly kind: 'oauth' } & Pick<StepFields, 'secretSlug'>)
    | ({ readonly kind: 'external' } & Pick<StepFields, 'url'> & Callback & Persisted)
  )

interface Choices extends Partial<Pick<StepFields, 'default'>> {
  readonly options?: readonly string[] | { readonly cmd: string; readonly timeoutMs: number }
}

interface Callback {
  readonly callback?: { readonly param?: string; readonly timeoutMs: number }
}

interface Persisted {
  readonly persist?: { readonly env: string } | { readonly secretSlug: string } | { readonly cmd: string }
}

/** Where the sandbox profile is defined. */
type SandboxSource =
  | { readonly from: 'file'; readonly path: string }
  | { readonly from: 'inline'; readonly profile: SandboxProfile }

/** Where the runner is defined. The limits of an inline one are in an inline sandbox too. */
type RunnerSource =
  | { readonly from: 'file'; readonly path: string }
  | { readonly from: 'inline'; readonly profile: RunnerProfile }

/** The part of an AIP-17 runner that a host uses: limits beside those of the sandbox. */
export interface RunnerProfile {
  readonly limits: SandboxProfile['limits']
}

/** The parts of an AIP-36 profile that a host uses. Without `network` there is no network. */
export interface SandboxProfile {
  readonly provider: string
  readonly config: Readonly<Record<string, unknown>>
  readonly limits: CamelKeys<SandboxBlock<'limits'>>
  readonly env: {
    /** Relative path of a SECRETS.md. */
    readonly secretsRef?: string
    readonly authVariables: readonly string[]
    readonly passthrough: readonly string[]
    readonly set: Readonly<Record<string, string>>
  }
  readonly network?: Required<SandboxBlock<'network'>>
  readonly mounts: readonly Required<SandboxBlock<'mounts'>[number]>[]
  readonly readOnly: boolean
  readonly fs?: Required<SandboxBlock<'fs'>>
  readonly exec?: Required<SandboxBlock<'exec'>>
  readonly tty?: SandboxBlock<'tty'>
  /** `lifecycle`, `identity`, `policy` and `metadata`, which no built-in provider reads. */
  readonly carried: Pick<SandboxDocument, 'lifecycle' | 'identity' | 'policy' | 'metadata'>
}

type SandboxBlock<K extends keyof SandboxDocument> = NonNullable<SandboxDocument[K]>

type Models = Block<'models'> & Required<Pick<Block<'models'>, 'env'>>

/** The declared capabilities. A capability that is not declared is false. */
export type ManifestCapabilities = Readonly<Record<CamelKey<CapabilityName>, boolean>>

export type Mode = CamelKeys<ModeDocument & Required<Pick<ModeDocument, 'bin_args_append' | 'env'>>>

interface OptionCommon extends Pick<OptionDocument, 'id' | 'description'> {
  /** Elements may contain `{value}`. */
  readonly binArgsTemplate: readonly string[]
  /** Values may contain `{value}`. */
  readonly env: Readonly<Record<string, string>>
}

export type Option = OptionCommon &
  (
    | { readonly type: 'boolean'; readonly default?: boolean; readonly binArgsAppendWhenTrue: readonly string[] }
    | { readonly type: 'integer'; readonly default?: number; readonly min?: number; readonly max?: number }
    | { readonly type: 'string'; readonly default?: string }
    | { readonly type: 'enum'; readonly default?: string; readonly enum: readonly string[] }
  )

export type Continuation = Pick<Block<'continuation'>, 'default' | 'supported'> & {
  readonly pinnedSession: Required<CamelKeys<NonNullable<Block<'continuation'>['pinned_session']>>>
}
