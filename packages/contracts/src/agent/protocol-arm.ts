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
import type { Json } from '../json.js'
import type { AgentKeeper, KeptAgent } from './kept-agent.js'
import type { Launch } from './launch.js'
import type { SharedSession } from './shared-facts.js'
import type { ContentBlock } from '../wire/content-block.js'
import type { AgentInfo, StoredAgentSession } from '../session.js'
import type { TraceContext } from '../trace-context.js'

/**
 * AIP-45's protocol arms. An arm speaks one protocol to one agent process and translates it to canonical events.
 * Connection and session are separate, so that one process can hold several sessions if the agent supports it.
 */

export const PROTOCOLS = ['acp', 'mcp', 'proprietary'] as const
export type Protocol = (typeof PROTOCOLS)[number]

/** Time limits in milliseconds. */
export type ArmLimits = { readonly [Limit in keyof typeof DEFAULT_ARM_LIMITS]: number }

export const DEFAULT_ARM_LIMITS = {
  /** Spawn to the end of the protocol's handshake. */
  handshakeMs: 60_000,
  /** Opening, loading or resuming a session. */
  openMs: 60_000,
  /** Any other control request. */
  requestMs: 10_000,
  /** From the loss of a connection to an agent that runs elsewhere until it is given up. */
  reconnectMs: 120_000,
  /** From the end of stdin to SIGTERM. */
  stdinGraceMs: 1_500,
  /** From SIGTERM to SIGKILL (AIP-45). */
  termGraceMs: 5_000,
} as const

export interface ArmConnectOptions {
  readonly launch: Launch
  readonly limits: ArmLimits
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Name and version of the host. */
  readonly client: { readonly name: string; readonly version: string }
  /** What the host does for agents: files, commands in a session's folders, outside of a sandbox. Default: nothing. */
  readonly serve?: { readonly fs?: boolean; readonly terminal?: boolean }
  /** The part of the manifest that only this arm parses. */
  readonly profile?: unknown
  /**
   * Where the process is started so that it outlives this host, its key there, and what the host itself needs to go on with
   * it ({@link KeptFacts.host}); absent for a process of this host.
   */
  readonly keep?: {
    readonly keeper: AgentKeeper
    readonly key: string
    readonly host?: Json
    /** Several sessions are opened; each is kept under a key of its own ({@link OpenSessionOptions.keep}). */
    readonly isShared?: true
  }
}

/** Goes on with an agent that an earlier host started. `launch` is what it was started with. */
export interface ArmAdoptOptions extends Omit<ArmConnectOptions, 'keep'> {
  readonly agent: KeptAgent
  /** Where the agent is kept; for an agent that has more processes than this one. */
  readonly keep?: Pick<NonNullable<ArmConnectOptions['keep']>, 'keeper' | 'key'>
}

/** A session of an adopted agent, before anything of it was read. */
export interface AdoptedSession extends ArmSession {
  /**
   * What {@link AgentSink.mark} gave at the idle point from which the agent's output is read again. The last idle point of a
   * turn is the moment before its prompt is written, so that its mark is behind the prompt in the log.
   */
  readonly mark: number
  /** Settles when everything was emitted that was kept when the agent was adopted; never rejects. Pending before `begin`. */
  readonly caughtUp: Promise<void>
  /**
   * Begins to read. What an earlier host has emitted since the idle point is emitted again, in the same order; requests
   * of the agent that were answered are not asked again, but named to {@link AgentSink.answered}.
   */
  begin(): RunningTurn | undefined
}

/** A kept process that several sessions share, before anything of it was read. */
export interface AdoptedProcess {
  readonly connection: ArmConnection
  /** {@link SharedFacts.host} */
  readonly host: Json
  /** The sessions that can be adopted; see {@link OpenSessionOptions.keep}. */
  readonly sessions: readonly SharedSession[]
  /** Goes on with one of them; before `begin`. @throws `not_adoptable` */
  adopt(
    key: string,
    opening: Pick<OpenSessionOptions, 'cwd' | 'additionalDirectories'>,
    sink: AgentSink,
  ): AdoptedSession
  /** Begins to read, after the `begin` of each session. The sessions that were not adopted are closed. */
  begin(): void
}

/** A turn whose prompt an earlier host has sent. */
export interface RunningTurn {
  /** As {@link ArmSession.send} of its prompt. */
  readonly done: Promise<void>
  /** The earlier host has cancelled it. */
  readonly cancelling: boolean
}

export interface OpenSessionOptions {
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
  readonly mcpServers: readonly McpServer[]
  readonly origin: SessionOrigin
  /** Sent with the request that opens the session, if the protocol supports it (ACP: `_meta`). */
  readonly meta?: Readonly<Record<string, unknown>>
  /** The trace that the request that opens the session is part of. */
  readonly trace?: TraceContext
  /** Its key in a kept process that several sessions share, and what the host needs to go on with it. */
  readonly keep?: { readonly key: string; readonly host: Json }
}

export interface ArmSession {
  /** Empty or provisional until a turn has ended, if the agent names its session only then. */
  readonly agentSessionId: string
  readonly warnings: readonly string[]
  /** After the connection ended by itself: whether a turn of this session was running, and not only one of a sibling. */
  readonly interrupted?: boolean
  /** See {@link RunningAgent.send}. */
  send(prompt: readonly ContentBlock[], trace?: TraceContext): Promise<void>
  cancel(): Promise<void>
  configure(change: ConfigChange): Promise<void>
  /** Closes this session in the agent if it supports it; the process stays. */
  close(): Promise<void>
}

export interface ArmConnection {
  readonly info: AgentInfo
  readonly process?: AgentProcessInfo
  /** Why the agent ends with this host, although {@link ArmConnectOptions.keep} was given. For people. */
  readonly endsWithHost?: string | undefined
  /** @throws `handshake_failed`, `auth_required`, `not_resumable`, `timeout` */
  openSession(options: OpenSessionOptions, sink: AgentSink): Promise<ArmSession>
  /** Sessions that the agent stored itself, all or those of one folder. @throws `not_supported` */
  listSessions?(cwd?: string): Promise<readonly StoredAgentSession[]>
  /** Ends the connection and the whole process tree. Idempotent. @throws `termination_failed` */
  close(): Promise<ProcessExit>
  /** Settles when the agent ended by itself. */
  readonly ended: Promise<AgentEnd>
}

export interface ProtocolArm {
  readonly protocol: Protocol
  /** Rejects only after all spawned processes are gone. */
  connect(options: ArmConnectOptions): Promise<ArmConnection>
  /**
   * Goes on with a kept agent and its one session; absent where the protocol cannot. A rejection leaves the agent running.
   * @throws `not_adoptable` when what was kept does not suffice
   */
  adopt?(options: ArmAdoptOptions, sink: AgentSink): Promise<{ connection: ArmConnection; session: AdoptedSession }>
  /**
   * Goes on with a kept process that several sessions share; absent where the protocol cannot. A rejection leaves it running.
   * @throws `not_adoptable` when what was kept does not suffice
   */
  adoptShared?(options: ArmAdoptOptions): Promise<AdoptedProcess>
}
