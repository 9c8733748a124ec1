import type { AgentSignal, ProcessExit } from './agent.js'
import type { KeptAgent } from './kept-agent.js'
import type { Launch } from './launch.js'
import type { AgentAnswer } from '../agent-request.js'
import type { Json } from '../json.js'
import type { ContentBlock } from '../wire/content-block.js'
import type { StreamEvent } from '../stream-event.js'

/**
 * AIP-45 `protocol: proprietary`: the interface of the default export of an adapter package. The host puts a time limit on
 * every promise, and ends each turn exactly once whatever the adapter does.
 */

/** The manifest's `capabilities`. */
export interface AgentCliCapabilities {
  readonly streaming: boolean
  readonly toolCalls: boolean
  readonly subAgents: boolean
  readonly fileIo: boolean
  readonly multimodal: boolean
  readonly resumable: boolean
  readonly bidirectional: boolean
}

export interface AgentCliConnectOptions {
  /** Absolute, existing. */
  readonly cwd: string
  /** The whole environment of the agent; an adapter must not read another. */
  readonly env: Readonly<Record<string, string>>
  /** Aborts when the start is cancelled and when the session is closed. */
  readonly abortSignal: AbortSignal
  readonly capabilities: AgentCliCapabilities

  // Beyond AIP-45.
  /** Absolute path of the manifest's executable. */
  readonly command: string
  /** Its arguments: `bin_args`, then those of the mode and the options. */
  readonly args: readonly string[]
  readonly additionalDirectories: readonly string[]
  /** The block of the adapter in the metadata of the manifest (`metadata.agentproto.adapter`). */
  readonly settings?: unknown
  /** Id of the conversation to resume, as the adapter returned it in an earlier run. */
  readonly resume?: string
  /** From SIGTERM to SIGKILL, in milliseconds. */
  readonly termGraceMs: number
  /** Only for an adapter with {@link AgentCliClient.reattach}, where the host lets agents outlive it. */
  readonly keep?: AgentCliKeep
}

/** Starts the processes of turns so that they outlive the host. */
export interface AgentCliKeep {
  /**
   * Starts the process of the running turn, in place of a spawn of the adapter's own. One at a time: the one before it is ended
   * and forgotten.
   * @param input all that its stdin gets; stdin is closed after it
   * @throws `cwd_invalid`, `agent_not_installed`, `spawn_failed`; `keeper_unavailable`
   */
  spawn(launch: Launch, input: string): Promise<KeptAgent>
}

/** Connects with what an earlier host has left. */
export interface AgentCliReattachOptions extends AgentCliConnectOptions {
  readonly keep: AgentCliKeep
  /** What {@link AgentCliClient.facts} gave before the running turn, or after the last one. */
  readonly facts: Json
  /** The running turn; absent where none runs. */
  readonly turn?: {
    readonly id: string
    /** What its stdin got. */
    readonly input: string
    /** Its output is there from the beginning, to be translated again; it may have ended. */
    readonly process: KeptAgent
  }
}

/** What an adapter reports after it went on. */
export interface AgentCliReattached {
  /** Settles when {@link AgentCliClient.events} has all that was kept of the running turn; never rejects. */
  readonly caughtUp: Promise<void>
}

/** What an adapter reports about its agent. */
export interface AgentCliInfo {
  readonly name?: string
  readonly version?: string
}

/** How an agent ended by itself. */
export interface AgentCliEnd extends ProcessExit {
  readonly message?: string
  readonly stderrTail?: string
  /** The connection failed, and the agent was ended because of it. */
  readonly broken?: boolean
}

/** What an adapter may emit beside AIP-45's stream events: the notices of a session. */
export type AgentCliEvent = StreamEvent | AgentSignal

/** A connected agent, as an adapter implements it (AIP-45). */
export interface AgentCliClient {
  /** Starts the agent. @throws {@link AgentprotoError}; anything else counts as a failed handshake */
  connect(options: AgentCliConnectOptions): Promise<AgentCliInfo | void>
  /**
   * Sends a turn. Its events end with one `turn-end` or one `error`; this promise may settle before or after. The message is
   * text unless the manifest says `multimodal`.
   */
  send(turnId: string, message: string | readonly ContentBlock[]): Promise<void>
  /** The events of all turns, or of the next one; called again before a turn if the last iteration has ended. */
  events(): AsyncIterable<AgentCliEvent>
  /** Ends a turn within a second. */
  cancel(turnId: string): Promise<void>
  /** Ends the agent: SIGTERM, 5 s, SIGKILL. */
  close(): Promise<void>

  // Beyond AIP-45.
  /** Receives the answer to an `agent-prompt` that it emitted. Without this method requests are not asked. */
  answer?(requestId: string, answer: AgentAnswer): void | Promise<void>
  /** Settles when the agent ended by itself; never rejects. Without it, the end of `events` means that the agent ended. */
  readonly ended?: Promise<AgentCliEnd> | undefined
  /** Its id of the conversation, with which a later run can resume it. */
  readonly sessionId?: string | undefined
  /**
   * Goes on in place of `connect`, where an earlier host ended. Declares that each turn is a process of its own, started by
   * {@link AgentCliConnectOptions.keep} where that is given; between turns nothing runs.
   */
  reattach?(options: AgentCliReattachOptions): Promise<AgentCliReattached>
  /** What `reattach` needs: JSON without secrets, at most 128 KiB. Asked for between turns and before a process is started. */
  facts?(): Json
}

/** The default export of an adapter package: a client, or a class or function that creates one for each session. */
export type AgentCliAdapter = AgentCliClient | (new () => AgentCliClient) | (() => AgentCliClient)
