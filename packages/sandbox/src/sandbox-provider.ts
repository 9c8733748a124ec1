import type { Clock, Json } from '@agentproto/contracts'
import type { Launch, RepositoryAccess } from '@agentproto/contracts/agent'

/** An AIP-36 profile as a provider needs it. The sandbox profile of a checked manifest fits. */
export interface ConfinementProfile {
  readonly provider: string
  readonly config: Readonly<Record<string, unknown>>
  readonly limits: { readonly timeoutMs?: number; readonly memoryMb?: number; readonly cpuMs?: number }
  /** Absent: no network. */
  readonly network?: { readonly egress: readonly string[]; readonly ingress: readonly string[] }
  readonly mounts: readonly SandboxMount[]
  readonly readOnly: boolean
  readonly fs?: {
    readonly read: readonly string[]
    readonly write: readonly string[]
    readonly deny: readonly string[]
  }
  readonly exec?: { readonly allow: boolean; readonly spawn: readonly string[] }
  readonly tty?: { readonly required?: boolean }
  /** Blocks that no built-in provider reads. */
  readonly carried?: { readonly identity?: unknown; readonly policy?: unknown; readonly lifecycle?: unknown }
}

export interface SandboxMount {
  readonly source: 'workspace' | { readonly ref: string } | { readonly file: string } | { readonly inline: unknown }
  /** Absolute path inside. */
  readonly at: string
  readonly mode: 'read-write' | 'read-only'
}

/** The launch to confine, and its context. All paths are absolute. */
export interface SandboxRequest {
  readonly launch: Launch
  /** Additional folders of the session; mounted like the workspace. */
  readonly directories?: readonly string[]
  /** Folders that belong to the agent, such as a private home. */
  readonly writable?: readonly string[]
  /** Folders that are needed to run, such as the agent's installation. */
  readonly readable?: readonly string[]
  /** Of an agent in a worktree, which may lie in a hidden folder. */
  readonly repository?: RepositoryAccess
  /** Folders that no agent may read, such as the gateway's state. */
  readonly hidden?: readonly string[]
  /** Folder that the profile's `file` mounts are relative to. */
  readonly manifestDirectory?: string
  /** What `~` stands for. */
  readonly home?: string
  /**
   * A private folder of the session, for what a later host must find again. No agent sees it. It may not exist yet. Absent: the
   * sandbox ends with this host.
   */
  readonly folder?: string
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** A launch as a provider changed it. */
export interface PreparedLaunch {
  readonly launch: Launch
  /** Whether everything that the profile requires is enforced. */
  readonly enforced: boolean
  /** Why it is not, or what is not. */
  readonly reason?: string
  /** For people: what was ignored without weakening the confinement. */
  readonly warnings: readonly string[]
  /** Frees what was created for the launch, after its process has ended. Idempotent; never rejects. */
  release?(): Promise<void>
  /** How what {@link release} frees outlives this host. Absent: the process must end with this host. */
  readonly kept?: KeptSandbox
}

/** A sandbox that a later host can hold again. */
export interface KeptSandbox {
  /** For {@link SandboxProvider.holdAgain} of the later host. Without secrets. */
  readonly facts: Json
  /**
   * Closes what this host has open, and nothing else: the process goes on. After it, `release` does nothing. Idempotent; never
   * rejects.
   */
  leave(): Promise<void>
}

/** The sandbox of a process that an earlier host has confined. */
export interface HeldSandbox {
  /** For people: what could not be opened again and is closed now. */
  readonly warnings: readonly string[]
  /** As {@link PreparedLaunch.release}. */
  release(): Promise<void>
  /** As {@link KeptSandbox.leave}. */
  leave(): Promise<void>
}

/** One way to confine a process (AIP-36). A host may register its own. */
export interface SandboxProvider {
  /**
   * Changes a launch so that the process is confined. Never starts the agent itself.
   * @throws `sandbox_unavailable` when the agent must not be started without the sandbox
   */
  prepare(profile: ConfinementProfile, request: SandboxRequest): Promise<PreparedLaunch>
  /**
   * Holds the sandbox of a process that goes on, exactly as an earlier host has prepared it. What cannot be opened again stays
   * closed. Absent: only the host that prepares a sandbox can hold it.
   * @param facts of {@link KeptSandbox}
   * @throws `sandbox_unavailable` when the process must not go on
   */
  holdAgain?(facts: Json, request: HoldRequest): Promise<HeldSandbox>
}

export type HoldRequest = Pick<SandboxRequest, 'folder' | 'clock' | 'signal'>
