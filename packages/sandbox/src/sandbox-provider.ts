import type { Clock, Launch } from '@agentproto/contracts'

/** AIP-36 as a provider sees it; the profile of a checked manifest is one. */
export interface ConfinementProfile {
  readonly provider: string
  readonly config: Readonly<Record<string, unknown>>
  readonly limits: { readonly timeoutMs?: number; readonly memoryMb?: number; readonly cpuMs?: number }
  /** Absent: nothing may be reached. */
  readonly network?: { readonly egress: readonly string[]; readonly ingress: readonly string[] }
  readonly mounts: readonly SandboxMount[]
  readonly readOnly: boolean
  readonly fs?: {
    readonly read: readonly string[]
    readonly write: readonly string[]
    readonly deny: readonly string[]
  }
  readonly exec?: { readonly allow: boolean; readonly spawn: readonly string[] }
}

export interface SandboxMount {
  readonly source: 'workspace' | { readonly ref: string } | { readonly file: string } | { readonly inline: unknown }
  /** Absolute path inside. */
  readonly at: string
  readonly mode: 'read-write' | 'read-only'
}

/** The launch that is to be confined, and the ground that it stands on. All paths are absolute. */
export interface SandboxRequest {
  readonly launch: Launch
  /** The session's folders beyond the working one; mounted as the workspace is. */
  readonly directories?: readonly string[]
  /** Folders that are the agent's own, such as a private home. */
  readonly writable?: readonly string[]
  /** Folders that are needed to run, such as the one that the agent is installed in. */
  readonly readable?: readonly string[]
  /** Folders that no agent may look into, such as the gateway's state. */
  readonly hidden?: readonly string[]
  /** Folder that the profile's `file` mounts are relative to. */
  readonly manifestDirectory?: string
  /** What `~` stands for. */
  readonly home?: string
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** What a provider made of a launch. */
export interface PreparedLaunch {
  readonly launch: Launch
  /** Whether everything that the profile asks for holds. */
  readonly enforced: boolean
  /** Why not, or what does not. */
  readonly reason?: string
  /** For people: what was left out without weakening anything. */
  readonly warnings: readonly string[]
  /** Frees what was made for the launch, once its process is gone. Idempotent; never rejects. */
  release?(): Promise<void>
}

/** One way to confine a process (AIP-36). A host may register its own. */
export interface SandboxProvider {
  /**
   * Changes a launch so that what it starts is confined. Never starts the agent itself.
   * @throws `sandbox_unavailable` when the agent must not be started without it
   */
  prepare(profile: ConfinementProfile, request: SandboxRequest): Promise<PreparedLaunch>
}
