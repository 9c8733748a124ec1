import type { EventBatch } from '../event-log.js'
import type { Session } from '../session.js'
import type { StoredSpawn } from '../session-store.js'

/** What a host does so that a session can go on elsewhere. It knows of no fleet: who owns a session is decided outside. */

/** A session whose host is lost, as others know it. All of it is checked before it is used. */
export interface LostSession {
  /** Its last known record. */
  readonly session: Session
  /** What its start decided, if its host had published it ({@link SessionMoves.settingsOf}). */
  readonly settings?: MovedSettings
  /** Name of the host that is lost. */
  readonly from: string
  /** Its whole log, oldest first. A gap says which events are lost. */
  readonly events: AsyncIterable<EventBatch>
  /** Number of the last event that others have: those up to it that `events` does not give are lost. */
  readonly lastSeq?: number
}

/** What of a start other hosts may know: no path and no secret of its host. */
export interface MovedSettings extends Pick<
  StoredSpawn,
  | 'mode'
  | 'options'
  | 'instructions'
  | 'envelope'
  | 'continuation'
  | 'title'
  | 'loops'
  | 'budget'
  | 'requestTimeoutMs'
  | 'changes'
> {
  /** How many MCP servers the start named. They stay on their host: they may hold secrets. */
  readonly mcpServers?: number
}

export interface Suspension {
  /** Sessions whose agents have ended. */
  readonly ended: readonly string[]
  /** Sessions whose agents could not be ended in time: they may still run. */
  readonly running: readonly string[]
}

/** How long agents may run unless it is said again. */
export interface RunTimes {
  readonly forMs: number
  /** From then on, until nothing of them is left. */
  readonly graceMs: number
}

export interface SessionMoves {
  /**
   * Makes the session of a lost host one of this host, under the same id: its log is copied with the same numbers, its open turn
   * ends as `error`, and it is asleep in the folder that its workspace has here. The next prompt starts an agent with the
   * transcript. All or nothing: a refusal or a crash leaves nothing of it.
   * @throws `invalid_request` where what is known of it is not whole or cannot be moved; `session_live` where it is this host's
   *   own; `adapter_not_found`, `agent_not_installed`, `continuation_unsupported`, `workspace_not_found`, `cwd_invalid` where
   *   this host lacks something; `storage_failed`
   */
  takeOver(lost: LostSession): Promise<Session>
  /**
   * Another host has the session: its agent here is ended, and from the moment of the call on nothing is added to its log. Its
   * record says `moved` and `movedTo`. Idempotent, also after an error.
   * @throws `session_not_found`; `termination_failed` where something of the agent still lives
   */
  giveUp(id: string, to: string): Promise<void>
  /** What of its start others may know. @throws `session_not_found` */
  settingsOf(id: string): MovedSettings
  /**
   * From now on no session whose policy is `move` starts an agent or a turn here (`host_unreachable`); the agents of those that
   * run are ended.
   * @param why For people: it is in the log of each session that it ends
   * @param withinMs How long to wait for the ends, in milliseconds; they go on after that
   */
  suspend(why: string, withinMs: number): Promise<Suspension>
  /** Ends the suspension. */
  release(): void
  /**
   * Sessions whose policy is `move` may run here for so long, unless they are suspended. It is said again and again: agents that this
   * process does not end in time, since it is frozen or gone, are ended by the one that holds them.
   */
  renew(times: RunTimes): void
}
