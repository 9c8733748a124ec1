import type { AgentAnswer, AgentRequest } from '../agent-request.js'
import type { ContentBlock } from '../content.js'
import type { AgentNotice } from '../notice.js'
import type { AgentInfo, SessionSandbox, StoredAgentSession } from '../session.js'
import type { StreamEvent } from '../stream-event.js'
import type { TraceContext } from '../trace-context.js'

/** A running agent as its host sees it, whatever protocol it speaks. */

/** What an arm says, in the one order in which the agent said it. `agent-prompt` is the host's to emit. */
export type AgentSignal = Exclude<StreamEvent, { type: 'agent-prompt' }> | AgentNotice

/** The host's end of a running agent. */
export interface AgentSink {
  /**
   * Takes a batch (one read of the child is one batch). A returned promise is back-pressure: the arm
   * reads nothing more of the child until it settles.
   */
  emit(batch: readonly AgentSignal[]): void | Promise<void>
  /**
   * Asks the user. Everything emitted before is logged before the request is. Settles when the request
   * is answered or its turn ends; `signal` aborts when the agent withdraws it.
   */
  ask(request: AgentRequest, signal: AbortSignal): Promise<AgentAnswer>
}

/** An MCP server that the agent launches, in ACP's shape. */
export interface StdioMcpServer {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
}

/** An MCP server that the agent is to use, in ACP's shape. */
export type McpServer =
  | StdioMcpServer
  | {
      readonly type: 'http' | 'sse'
      readonly name: string
      readonly url: string
      readonly headers: readonly { readonly name: string; readonly value: string }[]
      /** The same server as a program, for agents that reach none in this way; never sent to the others. */
      readonly otherwise?: StdioMcpServer
    }

/** How the conversation begins. */
export type SessionOrigin =
  | { readonly how: 'new' }
  /** `fork`: a new conversation that knows the old one's past. */
  | { readonly how: 'load' | 'resume' | 'fork'; readonly agentSessionId: string }

/** What the registry hands to `startAgent`. */
export interface StartAgentOptions {
  readonly sessionId: string
  readonly adapterSlug: string
  /** The workspace that the session belongs to, where its setup may be one of its own. */
  readonly workspaceSlug?: string
  /** Absolute, existing, resolved. */
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
  readonly mcpServers: readonly McpServer[]
  readonly mode?: string
  readonly options?: Readonly<Record<string, string | number | boolean>>
  /** `native`: by arguments of the agent's own start. */
  readonly origin: SessionOrigin | { readonly how: 'native'; readonly agentSessionId: string }
  /** What the agent is to keep to in all of the conversation; see {@link RunningAgent.instructed}. */
  readonly instructions?: string
  /** Whether the agent may start sessions of its own: it is given the gateway's tools. */
  readonly delegates?: boolean
  /** Added to the agent's environment: the session's own variables. */
  readonly env: Readonly<Record<string, string>>
  /** The trace in which it is started: of its environment, and of the request that opens the session. */
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
  /** Whether a turn was running at that moment; its `error` and `turn-end` were emitted before this settles. */
  readonly duringTurn: boolean
  /** `timeout`: its host's limit of time ended it. */
  readonly cause: 'exit' | 'transport' | 'protocol' | 'timeout'
  readonly message: string
  readonly stderrTail: string
}

export interface AgentProcessInfo {
  readonly pid: number
  /** Opaque; with `pid` it names one process for ever. */
  readonly startTime: string
  /** Value of `AGENTPROTO_SESSION_ID` in its descendants, where several sessions share it: none of their ids. */
  readonly marker?: string
}

/** Change of what the running agent is set to; each known id only. */
export type ConfigChange =
  | { readonly mode: string }
  | { readonly model: string }
  | { readonly optionId: string; readonly value: string | boolean }

/** An agent that is ready for its first turn. */
export interface RunningAgent {
  readonly info: AgentInfo
  /** Empty, or another, until a turn has ended, where the agent names its session only then. */
  readonly agentSessionId: string
  readonly process?: AgentProcessInfo
  readonly sandbox?: SessionSandbox
  /** Whether the instructions of the start went through a channel of the agent's own; if not, they are the host's to tell. */
  readonly instructed?: boolean
  /** What the start could not honour, for people. */
  readonly warnings: readonly string[]
  /**
   * Sends one prompt. Resolves once the turn's `turn-end` was emitted; never rejects for what the agent
   * did wrong (that is an `error` event and a `turn-end` with reason `error`).
   * @param trace The trace that the prompt is part of, told to the agent where its protocol has a place for it
   * @throws `turn_in_progress` while a turn runs
   */
  send(prompt: readonly ContentBlock[], trace?: TraceContext): Promise<void>
  /** Asks the agent to end the running turn; its `turn-end` still comes. Idempotent. */
  cancel(): Promise<void>
  /** What the agent has stored itself, or of it that of one folder. @throws `not_supported` */
  storedSessions?(cwd?: string): Promise<readonly StoredAgentSession[]>
  /** @throws `not_supported` when the agent offers no such thing */
  configure(change: ConfigChange): Promise<void>
  /**
   * Ends the agent: protocol close, stdin end, SIGTERM, SIGKILL, and resolves once nothing of its
   * process tree lives. Idempotent.
   * @throws `termination_failed` when something of it still lives
   */
  stop(): Promise<ProcessExit>
  /** Settles when the agent ended without being told to; never rejects. After `stop` it stays pending. */
  readonly ended: Promise<AgentEnd>
}

/**
 * Starts an agent for a session. Rejects only after whatever was spawned is gone.
 * @throws `agent_not_installed`, `mode_unknown`, `option_invalid`, `cwd_invalid` (before the spawn);
 * `spawn_failed`, `handshake_failed`, `auth_required`, `not_resumable`, `timeout`, `cancelled` (after)
 */
export type StartAgent = (options: StartAgentOptions, sink: AgentSink) => Promise<RunningAgent>
