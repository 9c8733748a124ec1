import type { Session } from '@agentproto/contracts'
import type { RunningAgent, StoredSession } from '@agentproto/contracts/agent'
import type { EventLog } from '../log/event-log.js'
import type { SessionPermissions } from '../permissions/session-permissions.js'
import type { TurnHistory } from '../turns/turn-history.js'
import type { CommandOf, Input, Replies } from './input.js'
import type { SessionState } from './state.js'

/** A session as the parts around its actor see it: what it is, and the two ways to make something happen. */
export interface SessionHandle {
  readonly id: string
  readonly state: SessionState
  readonly log: EventLog
  readonly turns: TurnHistory
  readonly permissions: SessionPermissions
  readonly agent: RunningAgent | undefined
  readonly isLive: boolean
  /** Live sessions that its agent started. */
  readonly children: readonly SessionHandle[]
  snapshot(): Session
  stored(): StoredSession
  /** Hands in an input that has no caller. Resolves when it was handled and its entries are stored. */
  post(input: Input): Promise<void>
  /** Hands in a command; settles as the session answers it. */
  call<K extends keyof Replies>(type: K, command: CommandOf<K>): Promise<Replies[K]>
  /** Asks the policy again about every request that waits: a rule or the mode has changed. */
  review(): Promise<void>
}
