import type { AllowedAdapter } from '@agentproto/arm-proprietary'
import type { Clock } from '@agentproto/contracts'
import type { AgentKeeper, ArmLimits } from '@agentproto/contracts/agent'
import type { SecretDeclaration } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import type { Redactor, Secrets } from '@agentproto/secrets'
import type { SandboxesOptions } from '@agentproto/sandbox'
import type { EnvironmentPolicy } from '@agentproto/subprocess'
import type { EndpointRules } from './endpoint/guard-endpoint.js'
import type { FirstStarts } from './launch/first-starts.js'
import type { SharedProcesses } from './launch/shared-process.js'

/** Whose home an agent uses. */
export type HomePolicy = 'operator' | 'isolated'

/** The host that agents run on. */
export interface AgentHost extends Pick<EndpointRules, 'privateEndpoints'> {
  /** The host's own environment; agents get the variables that the policy passes. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Folder of agentproto's state; its agents are installed in `agents/<slug>`. */
  readonly home: string
  /** Called with what is no call's error, such as a file that was moved aside. */
  readonly onWarning?: (message: string) => void
  /** Absolute paths of executables by the manifests' `bin`; they win. */
  readonly executables?: Readonly<Record<string, string>>
  /** Default `filtered`. */
  readonly environment?: EnvironmentPolicy
  /**
   * Whose home agents use: the operator's, with its logins, or one of their own below `home`, which starts empty.
   * For all, or by adapter slug. Default `operator`.
   */
  readonly homes?: HomePolicy | Readonly<Record<string, HomePolicy>>
  /** Sandbox providers beside the built-in ones, and what happens to an agent that cannot be confined as its manifest asks. */
  readonly sandbox?: SandboxesOptions
  /** URL of the gateway, once it listens. */
  readonly url?: () => string | undefined
  /** Absolute path of the command line that agents may call. */
  readonly bin?: string
  readonly limits?: Partial<ArmLimits>
  readonly clock?: Clock
  /** The processes of agents that can share one; without it, each session has its own process. */
  readonly sharedProcesses?: SharedProcesses
  /** Keeps the first starts of an agent apart where its manifest asks for it; without it, all start side by side. */
  readonly firstStarts?: FirstStarts
  /** Holds the pipes of agents, so that they outlive this host; without it, agents end with it. */
  readonly keeper?: AgentKeeper
  /** Store of the secrets that manifests declare. Default: the store of `home`. */
  readonly secrets?: Secrets
  /** Checks whether agents are set up and logged in; without it, an agent that needs a setup is refused. */
  readonly provisioning?: LaunchProvisioning
  /** Gets every secret that an agent is given, and redacts it in what the agent says. */
  readonly redactor?: Redactor
  /**
   * Adapter packages that may be loaded into this process, by name, each at one version. Default: none.
   */
  readonly proprietary?: Readonly<Record<string, AllowedAdapter>>
  /** Name and version that agents get. */
  readonly client?: { readonly name: string; readonly version: string }
}

/** An agent that is about to be spawned. */
export interface SpawnGate {
  readonly adapter: LoadedAgentCli
  readonly host: AgentHost & { readonly secrets: Secrets; readonly redactor: Redactor }
  readonly declared: readonly SecretDeclaration[]
  readonly workspace?: string
  /** Variables that the caller gives to this session. */
  readonly env?: Readonly<Record<string, string>>
  /** What the mode, options and model of this spawn set in the environment: checks of the setup must look at the same. */
  readonly chosen?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** What a spawn is given. */
export interface SpawnProvision {
  /** Secrets and persisted values of the setup, by variable. */
  readonly env: Readonly<Record<string, string>>
  readonly warnings: readonly string[]
}

/** Checks whether an agent is set up and logged in (AIP-45 §Setup surface, AIP-29 §Auth). */
export interface LaunchProvisioning {
  /**
   * Asked before the spawn of an agent whose manifest declares a setup, or a login that is checked, refreshed or expires.
   * @throws `setup_required` with the pending steps, `auth_required` with the login command
   */
  beforeSpawn(gate: SpawnGate): Promise<SpawnProvision>
  /** The agent ended with the exit code that its manifest states for an expired login. */
  loginExpired(slug: string, host: AgentHost): Promise<void>
}
