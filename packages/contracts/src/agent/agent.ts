import type { AgentAnswer, AgentRequest } from '../agent-request.js'
import type { ContentBlock } from '../wire/content-block.js'
import type { mcpServerSchema } from '../wire/requests.js'
import type { ValueOf } from '../wire/value-of.js'
import type { AgentNotice } from '../notice.js'
import type { AgentInfo, SessionSandbox, StoredAgentSession } from '../session.js'
import type { StreamEvent } from '../stream-event.js'
import type { TraceContext } from '../trace-context.js'

/** A running agent, independent of its protocol. */

/** What an arm emits, in the order of the agent. The host itself emits `agent-prompt`. */
export type AgentSignal = Exclude<StreamEvent, { type: 'agent-prompt' }> | AgentNotice

/** Receives what a running agent emits. */
export interface AgentSink {
  /** Receives one read of the agent. A returned promise is back-pressure: the arm reads no more until it settles. */
  emit(batch: readonly AgentSignal[]): void | Promise<void>
  /**
   * Asks the user. What was emitted before is logged before the request. Settles when the request is answered or its turn
   * ends; `signal` aborts when the agent withdraws it.
   */
  ask(request: AgentRequest, signal: AbortSignal, options?: AskOptions): Promise<AgentAnswer>
  /**
   * How much is stored: what is emitted from now on comes after it. A promise while something is held back: ask again when it
   * settles. Absent where nothing outlives the host.
   */
  mark?(): number | Promise<void>
  /** Of an adopted agent: an earlier host has asked this and delivered the answer. In the order of `emit` and `ask`. */
  answered?(request: AgentRequest): void
}

export interface AskOptions {
  /** An answer that an earlier host has received is not given again, since that host may have acted on it: then `cancelled`. */
  readonly onlyNew?: true
}

/** An MCP server that the agent launches, in ACP's shape. */
export type StdioMcpServer = ValueOf<(typeof mcpServerSchema)['options'][0]>

/** An MCP server for the agent to use, in ACP's shape. */
export type McpServer =
  | StdioMcpServer
  | (ValueOf<(typeof mcpServerSchema)['options'][1]> & {
      /** The same server as a program, for agents without HTTP support; never sent to others. */
      readonly otherwise?: StdioMcpServer
    })

/** How the conversation starts. */
export type SessionOrigin =
  | { readonly how: 'new' }
  /** `fork`: a new conversation with the history of the old one. */
  | { readonly how: 'load' | 'resume' | 'fork'; readonly agentSessionId: string }

/** A worktree, and what of its repository a commit in it needs. Written only where the agent may write its working directory. */
export interface RepositoryAccess {
  /** The whole worktree, of which the working directory may be a part. */
  readonly worktree: string
  readonly readable: readonly string[]
  readonly writable: readonly string[]
}

/** What the registry passes to `startAgent`. */
export interface StartAgentOptions {
  readonly sessionId: string
  readonly adapterSlug: string
  /** The workspace of the session, which may have its own setup. */
  readonly workspaceSlug?: string
  /** Absolute, existing, resolved. */
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
  /** What an agent in a worktree needs of it, also when it is confined. */
  readonly repository?: RepositoryAccess
  readonly mcpServers: readonly McpServer[]
  readonly mode?: string
  readonly options?: Readonly<Record<string, string | number | boolean>>
  /** `native`: by arguments of the agent's own start. */
  readonly origin: SessionOrigin | { readonly how: 'native'; readonly agentSessionId: string }
  /** Instructions for the whole conversation; see {@link RunningAgent.instructed}. */
  readonly instructions?: string
  /** Why the agent must not outlive its host, for people; absent where it may. */
  readonly endsWithHost?: string
  /** Whether the agent may start sessions: it gets the tools of the gateway. */
  readonly delegates?: boolean
  /** Added to the agent's environment: the session's own variables. */
  readonly env: Readonly<Record<string, string>>
  /** The trace of the start, for its environment and for the request that opens the session. */
  readonly trace?: TraceContext
  /** Aborts the start; the process tree is gone before the promise rejects. */
  readonly signal: AbortSignal
}

/** How a process ended. */
export interface ProcessExit {
  readonly exitCode?: number
  readonly signal?: string
}

/** Why a running agent ended by itself. */
export interface AgentEnd extends ProcessExit {
  /** Whether a turn was running; its `error` and `turn-end` were emitted before this settles. */
  readonly duringTurn: boolean
  /** `timeout`: a time limit of the host ended it. */
  readonly cause: 'exit' | 'transport' | 'protocol' | 'timeout'
  /** It runs elsewhere: its connection has ended, and what became of the agent is not known. */
  readonly isElsewhere?: true
  readonly message: string
  readonly stderrTail: string
}

export interface AgentProcessInfo {
  readonly pid: number
  /** Opaque; together with `pid` it identifies a process for ever. */
  readonly startTime: string
  /** Value of `AGENTPROTO_SESSION_ID` in its descendants if several sessions share the process; it is none of their ids. */
  readonly marker?: string
}

/** A change of the settings of the running agent; only known ids. */
export type ConfigChange =
  | { readonly mode: string }
  | { readonly model: string }
  | { readonly optionId: string; readonly value: string | boolean }

/** An agent that is ready for its first turn. */
export interface RunningAgent {
  readonly info: AgentInfo
  /** Empty or provisional until a turn has ended, if the agent names its session only then. */
  readonly agentSessionId: string
  readonly process?: AgentProcessInfo
  readonly sandbox?: SessionSandbox
  /** Whether it outlives its host. */
  readonly kept?: boolean
  /** Whether the agent received the instructions through its own channel; otherwise the host sends them with a prompt. */
  readonly instructed?: boolean
  /** What the start could not apply, for people. */
  readonly warnings: readonly string[]
  /**
   * Sends one prompt. Resolves when the `turn-end` was emitted. It never rejects for an error of the agent, which is an
   * `error` event and a `turn-end` with reason `error`.
   * @param trace The trace that the prompt is part of, sent to the agent if its protocol supports it
   * @throws `turn_in_progress` while a turn runs
   */
  send(prompt: readonly ContentBlock[], trace?: TraceContext): Promise<void>
  /** Asks the agent to end the running turn; its `turn-end` still comes. Idempotent. */
  cancel(): Promise<void>
  /** Sessions that the agent stored itself, all or those of one folder. @throws `not_supported` */
  storedSessions?(cwd?: string): Promise<readonly StoredAgentSession[]>
  /** @throws `not_supported` if the agent does not offer it */
  configure(change: ConfigChange): Promise<void>
  /** Protocol close, stdin end, SIGTERM, SIGKILL, until its tree is gone. Idempotent. @throws `termination_failed` */
  stop(): Promise<ProcessExit>
  /** Settles when the agent ended by itself; never rejects. After `stop` it stays pending. */
  readonly ended: Promise<AgentEnd>
}

/**
 * Starts an agent for a session. Rejects only after all spawned processes are gone.
 * @throws `agent_not_installed`, `mode_unknown`, `option_invalid`, `cwd_invalid` (before the spawn);
 * `spawn_failed`, `handshake_failed`, `auth_required`, `not_resumable`, `timeout`, `cancelled` (after)
 */
export type StartAgent = (options: StartAgentOptions, sink: AgentSink) => Promise<RunningAgent>
