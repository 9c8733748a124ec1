import type { AdapterSessionPolicy, ContinuationStrategy } from './agent/adapter-catalog.js'
import type { ConfigChange, McpServer } from './agent/agent.js'
import type { Session } from './session.js'
import type { Turn } from './turn.js'
import type { SessionRequest } from './agent-request.js'
import type { PermissionRule } from './permission-rule.js'

/** Everything about a session that is not in its log and must survive a restart. */
export interface StoredSession {
  readonly version: 1
  readonly session: Session
  /** The most recent turns, at most 50; older ones are found in the log. */
  readonly turns: readonly Turn[]
  readonly requests: readonly SessionRequest[]
  /** Permission rules of the session itself; absent for none. */
  readonly rules?: readonly PermissionRule[]
  /** How the agent was started, for a resume; of secrets it holds those alone that a caller gave to its MCP servers. */
  readonly spawn: StoredSpawn
  /** Its agent is being started again: the record may be behind the log, which is read at boot then. */
  readonly starting?: true
  /** When its agent was last started; absent for the session's start. */
  readonly agentStartedAt?: string
  /** The child, so that a later host can find it: never signalled unless both match. */
  readonly process?: { readonly pid: number; readonly startTime: string }
}

export interface StoredSpawn {
  readonly mode?: string
  readonly options?: Readonly<Record<string, string | number | boolean>>
  readonly additionalDirectories?: readonly string[]
  readonly mcpServers?: readonly McpServer[]
  /** What was set on the running agent since, to be set again. */
  readonly changes?: readonly ConfigChange[]
  readonly instructions?: string
  readonly continuation?: ContinuationStrategy
  /** The title that the caller gave; the agent's does not replace it. */
  readonly title?: string
  /** AIP-45 `session` of the adapter at that time. */
  readonly policy?: AdapterSessionPolicy
}

/** Where session records live. Interchangeable; one conformance suite runs against each. */
export interface SessionStore {
  /** Reads every record, by `startedAt`, oldest first. What could not be read is moved aside and named in `problems`. */
  load(): Promise<{ readonly sessions: readonly StoredSession[]; readonly problems: readonly string[] }>
  /** Replaces a record as a whole. @throws `storage_failed` */
  save(record: StoredSession): Promise<void>
  delete(sessionId: string): Promise<void>
  /**
   * Writes what is still pending. Idempotent. After it `save` and `delete` are refused with `shutting_down`: nothing of a host that
   * has ended comes behind what the next one reads. A store that is its own place, as one in memory is, is opened again by `load`.
   */
  close(): Promise<void>
}
