import type {
  AgentEnd,
  AgentProcessInfo,
  AgentSink,
  ConfigChange,
  McpServer,
  ProcessExit,
  SessionOrigin,
} from './agent.js'
import type { Clock } from '../clock.js'
import type { ContentBlock } from '../content.js'
import type { AgentInfo, StoredAgentSession } from '../session.js'
import type { TraceContext } from '../trace-context.js'

/**
 * AIP-45's protocol arms. An arm speaks one protocol to one agent process and translates it to canonical
 * events once, at its boundary. The connection and the session are two things, so that one process can
 * hold several sessions where the agent can.
 */

export const PROTOCOLS = ['acp', 'mcp', 'proprietary'] as const
export type Protocol = (typeof PROTOCOLS)[number]

/** What is launched: directly, never through a shell. */
export interface Launch {
  /** Absolute path of an executable; not looked at where the arm's profile says that nothing is launched. */
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  /** The whole environment; nothing is inherited beside it. */
  readonly env: Readonly<Record<string, string>>
  /** Value of `AGENTPROTO_SESSION_ID` in `env`, by which stray descendants are found. */
  readonly marker: string
}

/** Time limits in milliseconds. */
export interface ArmLimits {
  /** Spawn to the end of the protocol's handshake. Default 60 000. */
  readonly handshakeMs: number
  /** Opening, loading or resuming a session. Default 60 000. */
  readonly openMs: number
  /** Any other control request. Default 10 000. */
  readonly requestMs: number
  /** From the end of stdin to SIGTERM. Default 1 500. */
  readonly stdinGraceMs: number
  /** From SIGTERM to SIGKILL (AIP-45). Default 5 000. */
  readonly termGraceMs: number
}

export const DEFAULT_ARM_LIMITS: ArmLimits = {
  handshakeMs: 60_000,
  openMs: 60_000,
  requestMs: 10_000,
  stdinGraceMs: 1_500,
  termGraceMs: 5_000,
}

export interface ArmConnectOptions {
  readonly launch: Launch
  readonly limits: ArmLimits
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Name and version that the host gives of itself. */
  readonly client: { readonly name: string; readonly version: string }
  /**
   * What the host does for agents that ask it to: files and commands of the session's folders, outside of whatever
   * confines the agent. Default: nothing.
   */
  readonly serve?: { readonly fs?: boolean; readonly terminal?: boolean }
  /** What the manifest says beside the launch, for this arm alone, which parses it. */
  readonly profile?: unknown
}

export interface OpenSessionOptions {
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
  readonly mcpServers: readonly McpServer[]
  readonly origin: SessionOrigin
  /** Goes with the request that opens the session, where the protocol has a place for it (ACP: `_meta`). */
  readonly meta?: Readonly<Record<string, unknown>>
  /** The trace that the request that opens the session is part of. */
  readonly trace?: TraceContext
}

export interface ArmSession {
  /** Empty, or another, until a turn has ended, where the agent names its session only then. */
  readonly agentSessionId: string
  readonly warnings: readonly string[]
  /** Once the connection ended by itself: whether a turn of this session ran then, and not only of a sibling. */
  readonly interrupted?: boolean
  /** See {@link RunningAgent.send}. */
  send(prompt: readonly ContentBlock[], trace?: TraceContext): Promise<void>
  cancel(): Promise<void>
  configure(change: ConfigChange): Promise<void>
  /** Closes this session in the agent where it can; the process stays. */
  close(): Promise<void>
}

export interface ArmConnection {
  readonly info: AgentInfo
  readonly process?: AgentProcessInfo
  /** @throws `handshake_failed`, `auth_required`, `not_resumable`, `timeout` */
  openSession(options: OpenSessionOptions, sink: AgentSink): Promise<ArmSession>
  /** What the agent has stored itself, or of it that of one folder. @throws `not_supported` */
  listSessions?(cwd?: string): Promise<readonly StoredAgentSession[]>
  /** Ends the connection and the whole process tree. Idempotent. @throws `termination_failed` */
  close(): Promise<ProcessExit>
  /** Settles when the agent ended without being told to. */
  readonly ended: Promise<AgentEnd>
}

export interface ProtocolArm {
  readonly protocol: Protocol
  /** Rejects only after whatever was spawned is gone. */
  connect(options: ArmConnectOptions): Promise<ArmConnection>
}
