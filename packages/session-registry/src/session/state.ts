import {
  type AgentRequest,
  type ContentBlock,
  type PromptContextPart,
  type Session,
  type SessionFailure,
  type SessionHealth,
  type SessionRequest,
  summaryOf,
  type TraceContext,
} from '@agentproto/contracts'
import type { AgentProcessInfo, ProcessExit, StoredSession, StoredSpawn, UsageMeter } from '@agentproto/contracts/agent'
import type { PromptRequest } from '@agentproto/contracts/wire'
import type { Ending } from '../lifecycle/ending.js'
import type { Place } from '../lifecycle/gathering.js'
import type { How, Resumption } from '../lifecycle/resume.js'
import type { EntryGroup } from '../log/event-log.js'
import type { RegistryConfig } from '../registry-config.js'
import { type Outgoing, type QueuedPrompt, waitingCount } from './queued-prompt.js'
import { type Recording, recordingOf } from './recording-phase.js'
import type { Standing } from '../usage/standing.js'
import { type CallHistory, NO_CALLS } from '../usage/call-history.js'
import { type Counted, newMeter, type Spent } from '../usage/meter.js'

/**
 * Everything that one session is at a moment, as plain data. What the log knows of it (descriptor, turn, requests) is
 * rebuilt by reducing the log's events again; the rest belongs to the run of the agent and ends with it.
 */
export interface SessionState {
  readonly config: RegistryConfig
  readonly spawn: StoredSpawn
  /** The descriptor, but for what {@link snapshotOf} derives. */
  readonly session: Session
  readonly run: Run
  readonly turn: TurnState
  /** Prompts that wait for their turn, in order; they have the numbers after the running turn's. */
  readonly queue: readonly QueuedPrompt[]
  /** Resolved requests, the latest 100, then the pending ones; oldest first. */
  readonly requests: readonly SessionRequest[]
  /** Requests that the agent waits for. */
  readonly asks: readonly Ask[]
  readonly context: PromptContext
  readonly watch: Watch
  /** Whether the agent still works on a prompt: it may be busy after its turn has ended. */
  readonly isSending: boolean
  /** A write failed: nothing more of this agent is logged, or a turn with a hole would look whole. */
  readonly isMuted: boolean
  /** No resume before, after one that failed (F37); milliseconds since the epoch. */
  readonly resumeAt: number
  /** What the session used, by its events. */
  readonly meter: UsageMeter
  /** The budgets that hold for it, as the ledger has them. */
  readonly standings: readonly Standing[]
  /** The tool calls of the running turn, as far as loops are concerned. */
  readonly calls: CallHistory
  readonly recording: Recording
  /** Files are being set back: no prompt is sent meanwhile. */
  readonly isRewinding: boolean
  /** When the agent was last started, ISO-8601. */
  readonly agentStartedAt?: string | undefined
  readonly process?: AgentProcessInfo | undefined
}

/** Names a caller that waits for an answer to its input. */
export type Call = number

/** Where the agent's process is between two starts. */
export type Run =
  | { readonly phase: 'ended' }
  | StartingRun
  | { readonly phase: 'running' }
  | StoppingRun
  /** A stop failed: some of its processes may still live. */
  | { readonly phase: 'surviving' }

export interface StartingRun {
  readonly phase: 'starting'
  readonly call: Call
  /** How the conversation is resumed; absent for the first start. */
  readonly how?: How | undefined
  readonly hasAgent: boolean
  /** Why the start is broken off. */
  readonly cause?: Ending
  readonly killers: readonly Call[]
}

export interface StoppingRun {
  readonly phase: 'stopping'
  /** The first cause wins. */
  readonly cause: Ending
  readonly killers: readonly Call[]
  /** The caller of a start that failed: it gets the error when nothing of the agent is left. */
  readonly starter?: { readonly call: Call; readonly error: unknown }
  /** How its process ended. The log has no end yet: what is in the folder is being recorded. */
  readonly exited?: { readonly exit: ProcessExit; readonly failure: SessionFailure | undefined }
}

export type TurnState =
  | { readonly phase: 'idle' }
  /** Its prompt is being written. */
  | { readonly phase: 'admitted'; readonly prompt: Outgoing }
  | OpenTurn

export interface OpenTurn {
  readonly phase: 'open'
  readonly number: number
  /** The prompt, until it is sent. */
  readonly unsent?: Outgoing | undefined
  /** Tool calls without a result. */
  readonly openTools: readonly string[]
  /** Whether there was any output that a person would call an answer. */
  readonly hasOutput: boolean
  readonly cancelled?: 'interrupted' | 'silent'
  /** Callers that wait for the end of the turn they interrupted. */
  readonly interrupters: readonly Call[]
}

/** A prompt as content blocks. */
export const contentOf = (prompt: PromptRequest['prompt']): readonly ContentBlock[] =>
  typeof prompt === 'string' ? [{ type: 'text', text: prompt }] : prompt

export interface Ask {
  readonly call: Call
  readonly requestId: string
  readonly turn: number
  readonly request: AgentRequest
  /** Whether the policy was asked, and the request is in the log. */
  readonly isLogged: boolean
  /** Neither a rule nor a mode may answer it. */
  readonly isForPerson: boolean
}

/**
 * What goes before the next prompt: the envelope and the instructions where the agent has no channel for them, and the
 * transcript of a conversation that the agent does not know. It counts as received when its turn has ended.
 */
export interface PromptContext {
  readonly transcript?: string | undefined
  /** Files were set back since the last prompt. */
  readonly isRewound?: true | undefined
  /** Kinds that the running turn's prompt began with. */
  readonly offered: readonly PromptContextPart['kind'][]
  readonly isSent: boolean
}

/** Supervision: inactivity is the failure, not elapsed time. Times in milliseconds since the epoch. */
export interface Watch {
  readonly activeAt: number
  /** The session ends then, busy or idle. */
  readonly endsAt: number
  /** When the timer fires; Infinity while none is armed. */
  readonly dueAt: number
  /** An idle session hibernates or ends after this, in milliseconds. */
  readonly idleMs: number
  /** The agent was warned about; it has been silent since. */
  readonly isSilent: boolean
  readonly turn?: WatchedTurn | undefined
}

export interface WatchedTurn {
  readonly startedAt: number
  readonly heartbeatAt: number
  readonly progressAt: number
  readonly isWarned: boolean
  readonly isCancelled: boolean
}

export const IDLE: TurnState = { phase: 'idle' }
export const NO_CONTEXT: PromptContext = { offered: [], isSent: false }

/** The state of a stored session, of which nothing runs yet. */
export function stateOf(
  { session, spawn, requests, recording, kept, meter = newMeter(spawn.reportedCost), ...stored }: StoredSession,
  config: RegistryConfig,
  { records }: { readonly records: boolean } = { records: false },
): SessionState {
  return {
    config,
    spawn,
    session,
    run: { phase: 'ended' },
    turn: IDLE,
    queue: kept?.queue ?? [],
    // One that is pending is read from the log again.
    requests: requests.filter(({ state }) => state !== 'pending'),
    asks: [],
    context: { ...NO_CONTEXT, ...kept?.context },
    watch: { activeAt: 0, endsAt: Infinity, dueAt: Infinity, idleMs: Infinity, isSilent: false },
    isSending: false,
    isMuted: false,
    resumeAt: 0,
    meter,
    standings: [],
    calls: NO_CALLS,
    recording: recordingOf(recording, records),
    isRewinding: false,
    agentStartedAt: stored.agentStartedAt,
    process: kept && stored.process,
  }
}

/** Whether a budget may hold for it: only then the ledger is asked. An agent's session shares those of its ancestors. */
export const mayHaveBudget = ({ config, spawn, session, standings }: SessionState): boolean =>
  config.budgets !== undefined ||
  spawn.budget !== undefined ||
  session.parentSessionId !== undefined ||
  standings.length > 0

/** Whether its agent can be left to the next host. */
export const isKept = ({ run, session }: SessionState): boolean => run.phase === 'running' && session.kept === true

/** Whether its end has begun. */
export const isEnding = ({ run }: SessionState): boolean =>
  run.phase === 'stopping' || (run.phase === 'starting' && run.cause !== undefined)

export const pendingRequests = ({ requests }: SessionState): readonly SessionRequest[] =>
  requests.filter(({ state }) => state === 'pending')

export const openTurn = ({ turn }: SessionState): OpenTurn | undefined => (turn.phase === 'open' ? turn : undefined)

/** The descriptor with one more warning for people. */
export function withWarning(session: Session, warning: string): Session {
  const { warnings } = session
  if (warnings.length >= MAX_WARNINGS || warnings.includes(warning)) return session
  return { ...session, warnings: [...warnings, warning] }
}

const MAX_WARNINGS = 20

/** The descriptor that callers see. */
export function snapshotOf(state: SessionState, lastSeq: number): Session {
  const { session, watch, meter, spawn } = state
  const queued = waitingCount(state.queue)
  return summarised({
    ...session,
    pendingRequests: pendingRequests(state).length,
    lastSeq,
    ...(queued === 0 ? {} : { queuedPrompts: queued }),
    health: healthOf(session, watch),
    ...(meter.countedSeq === 0 ? {} : { usage: meter.usage }),
    ...(spawn.budget === undefined ? {} : { budget: spawn.budget }),
  })
}

/** The descriptor with what is derived from the rest of it. */
export const summarised = (session: Session): Session => ({ ...session, ...summaryOf(session) })

function healthOf({ status, connection }: Session, { isSilent }: Watch): SessionHealth {
  if (status === 'starting') return 'unknown'
  if (status !== 'running') return 'dead'
  if (connection === 'disconnected') return 'stale'
  return isSilent ? 'degraded' : 'healthy'
}

export type TimerName = 'watch' | 'grace' | 'recording' | `request ${string}`

/** What the actor has to do, in order. `append` and `save` are done before the next effect; the others are started. */
export type Effect =
  /** `hold`: it takes effect even if it cannot be stored yet. Otherwise a failed write skips the effects after it. */
  | { readonly do: 'append'; readonly groups: readonly EntryGroup[]; readonly hold?: true }
  /** Save the record now. */
  | { readonly do: 'save' }
  /** Report a changed descriptor: at once, or when more activity has come together. */
  | { readonly do: 'changed'; readonly isUrgent: boolean }
  | { readonly do: 'reply'; readonly call: Call; readonly value?: unknown }
  | { readonly do: 'reject'; readonly call: Call; readonly error: unknown }
  | StartEffect
  | { readonly do: 'abort-start' }
  /** Go on with the agent of an earlier host, together with others. */
  | AdoptEffect
  | { readonly do: 'send'; readonly turn: number; readonly prompt: Outgoing }
  | { readonly do: 'cancel' }
  /** End the agent and its children. */
  | { readonly do: 'stop'; readonly cause: Ending }
  /** Ask the gate, the rules and the permission mode. */
  | { readonly do: 'judge'; readonly requestId: string; readonly request: AgentRequest }
  /** Record what is in the folder, beside everything else. */
  | { readonly do: 'record'; readonly turn: number }
  | { readonly do: 'abort-recording' }
  | { readonly do: 'forget-once-rules' }
  /** Add to the budgets; less than nothing for a turn that was admitted and never began. */
  | { readonly do: 'spend'; readonly spent: Spent }
  /** Store what a turn used. */
  | { readonly do: 'count'; readonly counted: Counted }
  /** `at` in milliseconds since the epoch. */
  | { readonly do: 'arm'; readonly timer: TimerName; readonly at: number }
  | { readonly do: 'disarm'; readonly timer: TimerName }
  /** Continue with the queue before any other input. */
  | { readonly do: 'next' }
  /** The run is over: readers of the log come to its end. */
  | { readonly do: 'settle' }

export interface AdoptEffect {
  readonly do: 'adopt'
  readonly call: Call
  readonly place: Place
}

export interface StartEffect {
  readonly do: 'start'
  readonly origin: Resumption['origin']
  readonly how?: How | undefined
  readonly trace?: TraceContext | undefined
}

/** What an input leads to. */
export interface Step {
  readonly state: SessionState
  readonly effects: readonly Effect[]
}

export const step = (state: SessionState, ...effects: readonly Effect[]): Step => ({ state, effects })

/** One decision after another. */
export function andThen({ state, effects }: Step, next: (state: SessionState) => Step): Step {
  const { state: after, effects: more } = next(state)
  return { state: after, effects: effects.length === 0 ? more : [...effects, ...more] }
}

export const URGENT: Effect = { do: 'changed', isUrgent: true }
