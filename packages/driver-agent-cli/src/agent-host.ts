import type { AllowedAdapter } from '@agentproto/arm-proprietary'
import type { ArmLimits, Clock } from '@agentproto/contracts'
import type { Redactor, Secrets } from '@agentproto/secrets'
import type { SandboxesOptions } from '@agentproto/sandbox'
import type { EnvironmentPolicy } from '@agentproto/subprocess'
import type { SharedProcesses } from './launch/shared-process.js'

/** Whose home an agent lives in. */
export type HomePolicy = 'operator' | 'isolated'

/** What the driver knows of the host that it runs agents on. */
export interface AgentHost {
  /** The host's own environment, of which agents see what the policy lets through. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Folder of agentproto's state: agents installed for it are under `agents/<slug>`. */
  readonly home: string
  /** Absolute paths of executables by the manifests' `bin`; they win. */
  readonly executables?: Readonly<Record<string, string>>
  /** Default `filtered`. */
  readonly environment?: EnvironmentPolicy
  /**
   * Whose home agents live in: the operator's, with its logins, or one of their own below `home`, which starts empty.
   * For all, or by adapter slug. Default `operator`.
   */
  readonly homes?: HomePolicy | Readonly<Record<string, HomePolicy>>
  /** Sandbox providers beside the built-in ones, and what becomes of an agent that cannot be confined as asked. */
  readonly sandbox?: SandboxesOptions
  /** Where the gateway is reached, once it listens. */
  readonly url?: () => string | undefined
  /** Absolute path of the command line that agents may call. */
  readonly bin?: string
  readonly limits?: Partial<ArmLimits>
  readonly clock?: Clock
  /** Where agents that can share a process do so; without it each session has its own. */
  readonly sharedProcesses?: SharedProcesses
  /** Where manifests' secrets are found. Default: those of `home`. */
  readonly secrets?: Secrets
  /** Learns every secret that an agent is given, and keeps them out of what the agent says. */
  readonly redactor?: Redactor
  /**
   * Adapter packages that may be loaded into this process, by name, each at one version. Default: none.
   */
  readonly proprietary?: Readonly<Record<string, AllowedAdapter>>
  /** Name and version that are told to agents. */
  readonly client?: { readonly name: string; readonly version: string }
}
