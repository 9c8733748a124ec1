import type { AdapterSessionPolicy, ContinuationStrategy } from './agent/adapter-catalog.js'
import type { AgentProcessInfo, ConfigChange, McpServer } from './agent/agent.js'
import type { StoredWorktree } from './agent/session-worktrees.js'
import type { Worktree } from './agent/worktrees.js'
import type { IdempotencyDigests } from './host-event.js'
import type { Session } from './session.js'
import type { TraceContext } from './trace-context.js'
import type { Budget, Cost, LoopLimits, Usage } from './usage.js'
import type { ContentBlock } from './wire/content-block.js'
import type { PermissionRule, SessionRequest, Turn } from './wire/session-responses.js'

/** What must survive a restart and is not in the log of the session. */
export interface StoredSession {
  readonly version: 1
  readonly session: Session
  /** The most recent turns, at most 50; older ones are found in the log. */
  readonly turns: readonly Turn[]
  readonly requests: readonly SessionRequest[]
  /** Permission rules of the session itself; absent for none. */
  readonly rules?: readonly PermissionRule[]
  /** How the agent was started, for a resume. The only secrets in it are those that a caller gave to its MCP servers. */
  readonly spawn: StoredSpawn
  /** Its agent is being restarted: the record may be behind the log, so the log is read at boot. */
  readonly starting?: true
  /** The turn after which its folder was being recorded, 0 for a start: the next host logs that it was not. */
  readonly recording?: number
  /** When its agent was last started; absent for the session's start. */
  readonly agentStartedAt?: string
  /** The child, so that a later host can find it: never signalled unless both match. */
  readonly process?: AgentProcessInfo
  /** Present while its agent outlives the host: what the next host needs to go on and the log does not say. */
  readonly kept?: StoredKept
  /** What it used; absent in records of older versions. */
  readonly meter?: UsageMeter
  /** It is being taken over from another host, and its log is not whole: the next start of this host removes it. */
  readonly takingUp?: true
  /** Of a session that is being taken over: what its folder is to be. Some or all of it may be there. */
  readonly plannedWorktree?: Worktree
}

export interface StoredKept {
  /** Prompts that wait for their turn, in order; the first has the number after the last turn of the record. */
  readonly queue: readonly StoredPrompt[]
  /** The next prompt begins with the transcript of the conversation, or with that files were set back. */
  readonly context: { readonly transcript?: string; readonly isRewound?: true }
}

export interface StoredPrompt {
  readonly content: readonly ContentBlock[]
  readonly trace?: TraceContext
  /** ISO-8601. */
  readonly queuedAt: string
  readonly isInterrupting: boolean
  readonly isStopped: boolean
  readonly idempotency?: IdempotencyDigests
}

/** What the events of a session say about its usage, up to one of them. */
export interface UsageMeter {
  /** Events up to this sequence number are counted. */
  readonly seq: number
  /** The last event that was counted as a turn, or as a cost after one. */
  readonly countedSeq: number
  readonly usage: Usage
  /** The latest amounts that the agent reported: it reports the sum of its conversation. */
  readonly reported: readonly Cost[]
  /** Cost since the last counted event. */
  readonly pending: readonly Cost[]
  /** The turn that runs. */
  readonly turn?: MeteredTurn
  /** Budgets about which the session was warned. */
  readonly warned?: readonly string[]
  /** Events up to this sequence number are of another host, which has counted them. */
  readonly elsewhere?: number
}

export interface MeteredTurn {
  /** When the agent went on working, in milliseconds since the epoch; absent while it waits for a person. */
  readonly busySince?: number
  /** Before that. */
  readonly busyMs: number
  /** While it waits: when the waiting began, or the last work that it reported meanwhile, in milliseconds since the epoch. */
  readonly waitingSince?: number
  /** Requests of the agent that wait for an answer. */
  readonly requests: number
  /** It is never sent to the agent. */
  readonly isUnsent: boolean
}

export interface StoredSpawn {
  readonly mode?: string
  readonly options?: Readonly<Record<string, string | number | boolean>>
  /** The real paths of the session's folders at its start, that of `cwd` first; older records lack it. */
  readonly roots?: readonly [string, ...string[]]
  readonly additionalDirectories?: readonly string[]
  readonly worktree?: StoredWorktree
  /** Whether the worktree was created for this session; else it shares that of another. */
  readonly ownsWorktree?: true
  readonly mcpServers?: readonly McpServer[]
  /** What callers set on the running agent since, to be restored. */
  readonly changes?: readonly ConfigChange[]
  readonly instructions?: string
  /** The agent gets a description of its session. */
  readonly envelope?: true
  readonly continuation?: ContinuationStrategy
  /** The title of the caller, which the agent's does not replace. */
  readonly title?: string
  /** AIP-45 `session` of the adapter at that time. */
  readonly policy?: AdapterSessionPolicy
  readonly budget?: Budget
  readonly loops?: LoopLimits
  /** A request that is not answered is denied after this; 0 for never; default as the gateway is configured. */
  readonly requestTimeoutMs?: number
  /** What the agent had reported of the conversation that it was forked with. */
  readonly reportedCost?: readonly Cost[]
  /** Of a start with an idempotency key. */
  readonly idempotency?: IdempotencyDigests
}

/** Stores session records. One conformance suite runs against every implementation. */
export interface SessionStore {
  /** Reads every record, ordered by `startedAt`. What cannot be read is moved aside and reported in `problems`. */
  load(): Promise<{ readonly sessions: readonly StoredSession[]; readonly problems: readonly string[] }>
  /** Replaces a whole record. @throws `storage_failed` */
  save(record: StoredSession): Promise<void>
  delete(sessionId: string): Promise<void>
  /**
   * Writes what is still pending. Idempotent. Afterwards `save` and `delete` are rejected with `shutting_down`, so that an ended
   * host writes nothing after the next one has read. A store in memory is opened again by `load`.
   */
  close(): Promise<void>
}

/** Stores the rules of workspaces on the host, never in the workspace, which often is foreign code. */
export interface RuleStore {
  /** @param workspace Its real path: a slug can be moved to another folder */
  load(workspace: string): Promise<readonly PermissionRule[]>
  /** Replaces all of them. @throws `storage_failed` */
  save(workspace: string, rules: readonly PermissionRule[]): Promise<void>
}
