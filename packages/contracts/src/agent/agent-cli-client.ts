import type { AgentSignal, ProcessExit } from './agent.js'
import type { AgentAnswer } from '../agent-request.js'
import type { ContentBlock } from '../content.js'
import type { StreamEvent } from '../stream-event.js'

/**
 * AIP-45 `protocol: proprietary`: what the default export of an adapter package is, or makes. A host guards every
 * promise of it with limits, and gives each turn one end whatever the adapter does.
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
  /** The whole environment of the agent; an adapter reads no other. */
  readonly env: Readonly<Record<string, string>>
  /** Aborts when the start is given up, and when the session is closed. */
  readonly abortSignal: AbortSignal
  readonly capabilities: AgentCliCapabilities

  // Beyond AIP-45.
  /** Absolute path of the manifest's executable. */
  readonly command: string
  /** Its arguments: `bin_args`, then those of mode and options. */
  readonly args: readonly string[]
  readonly additionalDirectories: readonly string[]
  /** The adapter's own block of the manifest's metadata (`metadata.agentproto.adapter`). */
  readonly settings?: unknown
  /** Id of the conversation to go on with, as the adapter gave it in an earlier run. */
  readonly resume?: string
  /** From SIGTERM to SIGKILL, in milliseconds. */
  readonly termGraceMs: number
}

/** What an adapter says of the agent that it connected with. */
export interface AgentCliInfo {
  readonly name?: string
  readonly version?: string
}

/** How an agent ended by itself. */
export interface AgentCliEnd extends ProcessExit {
  readonly message?: string
  readonly stderrTail?: string
  /** It could not be talked with any more, and was ended for that. */
  readonly broken?: boolean
}

/** What an adapter may emit beside AIP-45's stream events: the notices of a session. */
export type AgentCliEvent = StreamEvent | AgentSignal

/** A connected agent, as an adapter implements it (AIP-45). */
export interface AgentCliClient {
  /** Starts the agent. @throws {@link AgentprotoError}, or anything else, which is a failed handshake */
  connect(options: AgentCliConnectOptions): Promise<AgentCliInfo | void>
  /**
   * Sends a turn. Its events end with one `turn-end`, or one `error` that ends it; this promise may settle before or
   * after. A text, unless the manifest says `multimodal`.
   */
  send(turnId: string, message: string | readonly ContentBlock[]): Promise<void>
  /** The events of all turns, or of the next one; it is asked for again before a turn when it has ended. */
  events(): AsyncIterable<AgentCliEvent>
  /** Ends a turn within a second. */
  cancel(turnId: string): Promise<void>
  /** Ends the agent: SIGTERM, 5 s, SIGKILL. */
  close(): Promise<void>

  // Beyond AIP-45.
  /** Takes the answer to an `agent-prompt` that it emitted; without this method nobody is asked. */
  answer?(requestId: string, answer: AgentAnswer): void | Promise<void>
  /** Settles when the agent ended by itself; never rejects. Without it, only the end of `events` tells. */
  readonly ended?: Promise<AgentCliEnd> | undefined
  /** Its id of the conversation, by which a later run can go on with it. */
  readonly sessionId?: string | undefined
}

/** The default export of an adapter package: a client, or a class or a function that makes one for each session. */
export type AgentCliAdapter = AgentCliClient | (new () => AgentCliClient) | (() => AgentCliClient)
