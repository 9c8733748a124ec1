import type { AgentProcessInfo, ProcessExit } from './agent.js'
import type { Launch } from './launch.js'

/**
 * Agents whose pipes are held by a process of their own, the keeper, so that they outlive their gateway. A gateway that
 * starts adopts them: it reads again what was kept since the last idle point, and goes on.
 */

export const KEPT_STREAMS = ['stdin', 'stdout', 'stderr'] as const
/** `stdin` is what was accepted for the agent, so that the next gateway knows which of it the agent has. */
export type KeptStream = (typeof KEPT_STREAMS)[number]

/** Offsets in bytes since the start of the agent. */
export type StreamOffsets = Readonly<Record<KeptStream, number>>

/** What is kept of a stream. */
export interface KeptRange {
  /** Offset of the oldest byte that is kept. */
  readonly first: number
  /** Offset of the next byte. */
  readonly next: number
}

/** Of a turn that is a process of its own, beside the key of its session. */
const OF_TURN = '.turn'

/** The key of the process of a session's running turn, for agents that have one process a turn. */
export const turnKeyOf = (sessionKey: string): string => `${sessionKey}${OF_TURN}`

/** The session of a key. */
export const sessionKeyOf = (key: string): string => (key.endsWith(OF_TURN) ? key.slice(0, -OF_TURN.length) : key)

/** Starts agents that outlive the caller, and finds those of an earlier caller. */
export interface AgentKeeper {
  /**
   * Spawns an agent, directly and in a process group of its own. A repeat with the same key gives the same agent.
   * @param facts as in {@link KeptAgent.acknowledge}
   * @throws `cwd_invalid`, `agent_not_installed`, `spawn_failed`; `keeper_unavailable`
   */
  spawn(key: string, launch: Launch, facts: string): Promise<KeptAgent>
  /** The agent of an earlier caller; undefined when there is none. @throws `keeper_unavailable` */
  adopt(key: string): Promise<KeptAgent | undefined>
}

/** What runs only for so long. */
export interface AgentGuard {
  /** Of agents, and of what they started; at most 4,096. */
  readonly markers: readonly string[]
  readonly ms: number
  /** From SIGTERM to SIGKILL, in milliseconds. */
  readonly graceMs: number
}

/**
 * Why a controller has lost its agent. One that it left by itself goes on, for the next; one that another controller took over
 * must not be ended by the first.
 */
export interface KeptLoss {
  readonly cause: 'unreachable' | 'taken-over' | 'left'
  /** For people. */
  readonly reason: string
}

/** One agent as its only controller sees it. */
export interface KeptAgent {
  readonly process: AgentProcessInfo
  /** What the last {@link acknowledge} stored, or the spawn. */
  readonly facts: string
  /** What was kept when this controller began. */
  readonly kept: Readonly<Record<KeptStream, KeptRange>>
  /**
   * Reads a stream from an offset and follows it; ends when the stream has ended and all of it was read. Nothing more is read
   * from the keeper while the caller does not take the next chunk.
   */
  read(stream: KeptStream, from: number): AsyncIterable<Buffer>
  /**
   * Writes to the agent's stdin, in order and once: what was accepted is delivered whatever happens to the caller. A promise is
   * returned while the keeper holds as much as it may; it never rejects. An agent that ended drops it.
   */
  write(bytes: string): void | Promise<void>
  /** Closes stdin. */
  endInput(): void
  /**
   * Forgets what is before these offsets and stores the facts, both or neither.
   * @param facts what a later caller needs to go on from here, opaque to the keeper, at most 256 KiB
   * @param isBusy whether it works: an idle agent that no gateway serves is ended after a while
   */
  acknowledge(upTo: StreamOffsets, facts: string, isBusy: boolean): Promise<void>
  /**
   * Calls the listener when as much is kept as may be, or the disk takes no more, and also if that is so already: nothing more is
   * read from the agent until something is acknowledged.
   */
  onFull(listener: () => void): void
  /** Settles when the process ended; never rejects. */
  readonly exit: Promise<ProcessExit>
  /** Settles when this controller has lost the agent; never rejects. */
  readonly lost: Promise<KeptLoss>
  /** Forgets an agent that has ended, with all that is kept of it. */
  release(): Promise<void>
}
