import type { Budget, HostLossPolicy } from '@agentproto/contracts'

/** Settings of a registry; each key has a test that shows its effect. Times in milliseconds. */
export interface RegistryConfig {
  /** Live sessions at once. */
  readonly maxSessions: number
  /** An unanswered request of an agent is denied after this, unless the start of its session says otherwise; 0 for never. */
  readonly requestTimeoutMs: number
  /** How long an interrupted turn may take to end before its session is stopped. */
  readonly interruptGraceMs: number

  // Supervision of a turn: inactivity is the failure, not elapsed time.
  /** A running turn is reported to watchers this often, even if nothing happens. */
  readonly heartbeatMs: number
  /** A running turn gets a `runtime-progress` event this often. */
  readonly progressMs: number
  /** A turn that has been silent for this long gets one `runtime-warning`. */
  readonly warningMs: number
  /** A turn that has been silent for this long is cancelled. */
  readonly inactivityMs: number
  /** The same while a tool runs, which may be silent for long. */
  readonly toolBudgetMs: number
  /** How long a turn that was cancelled for silence may take to end before its session is stopped. */
  readonly cancelGraceMs: number

  // Supervision of a session.
  /** An idle session that can be resumed hibernates after this, where its manifest states no time. */
  readonly idleMs: number
  /** A session ends after this, busy or idle; 0 for never. */
  readonly maxDurationMs: number
  /** A session that ended longer ago than this is forgotten with its log; 0 for never. */
  readonly retentionMs: number

  /** What becomes of a session whose host is lost, where its start does not say: `move` where it can be moved. */
  readonly onHostLoss: HostLossPolicy

  // Usage.
  /** The same call with the same result this often in one turn gets a `runtime-warning`; 0 for never. */
  readonly loopWarnAfter: number
  /** It ends the session as `loop_detected` then; 0 for never. */
  readonly loopStopAfter: number
  readonly budgets?: BudgetConfig
}

/** What sessions may use, beside what their starts say. A day is one of UTC. */
export interface BudgetConfig {
  /** Of each session whose start names none. */
  readonly session?: Budget
  /** Of all sessions together, each day. */
  readonly day?: Budget
  /** Of the sessions of a workspace together, by slug: each day, and over all days whose usage is kept. */
  readonly workspaces?: Readonly<Record<string, { readonly day?: Budget; readonly total?: Budget }>>
}

const SECOND = 1_000
const MINUTE = 60 * SECOND

export const DEFAULT_REGISTRY_CONFIG: RegistryConfig = {
  maxSessions: 64,
  requestTimeoutMs: 0,
  interruptGraceMs: 30 * SECOND,
  heartbeatMs: 30 * SECOND,
  progressMs: 10 * MINUTE,
  warningMs: 15 * MINUTE,
  inactivityMs: 30 * MINUTE,
  toolBudgetMs: 120 * MINUTE,
  cancelGraceMs: 30 * SECOND,
  idleMs: 10 * MINUTE,
  maxDurationMs: 0,
  retentionMs: 0,
  onHostLoss: 'wait',
  loopWarnAfter: 5,
  loopStopAfter: 0,
}
