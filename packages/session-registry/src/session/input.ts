import type {
  AgentAnswer,
  AgentRequest,
  AnsweredBy,
  ContentBlock,
  IdempotencyDigests,
  PermissionMode,
  RequestFacts,
  Rewound,
  Session,
  SessionEvent,
  SessionFailure,
  SessionReview,
  TraceContext,
} from '@agentproto/contracts'
import type {
  AgentEnd,
  AgentSignal,
  ConfigChange,
  ProcessExit,
  RunningAgent,
  UsageMeter,
} from '@agentproto/contracts/agent'
import type { Interrupted, RenameRequest } from '@agentproto/contracts/wire'
import type { Ending } from '../lifecycle/ending.js'
import type { Place } from '../lifecycle/gathering.js'
import type { Resumption, ResumeCall } from '../lifecycle/resume.js'
import type { LogEntry } from '../log/event-record.js'
import type { PolicyAnswer } from '../permissions/permission-policy.js'
import type { Standing } from '../usage/standing.js'
import type { Outgoing } from './queued-prompt.js'
import type { Call, TimerName } from './state.js'

/** Everything that can happen to a session. Nothing else changes its state. */
export type Input = Command | AgentInput | HostInput | LogInput

/** Of a caller, who waits for a reply. */
type Command =
  | { readonly type: 'start'; readonly call: Call; readonly origin: Resumption['origin']; readonly trace: Trace }
  | {
      readonly type: 'resume'
      readonly call: Call
      readonly request: ResumeCall
      readonly workspaceSlug: string
      readonly trace: Trace
    }
  | {
      readonly type: 'prompt'
      readonly call: Call
      readonly content: readonly ContentBlock[]
      readonly origin: 'prompt' | 'spawn'
      readonly whenBusy?: 'reject' | 'queue' | 'interrupt' | undefined
      readonly trace: Trace
      readonly idempotency?: IdempotencyDigests | undefined
    }
  | { readonly type: 'interrupt'; readonly call: Call; readonly turn?: number | undefined }
  | { readonly type: 'kill'; readonly call: Call; readonly ending: Ending }
  /** Another host has the session. */
  | { readonly type: 'give-up'; readonly call: Call; readonly to: string }
  | {
      readonly type: 'answer'
      readonly call: Call
      readonly requestId: string
      readonly answer: AgentAnswer
      readonly by: AnsweredBy
    }
  | { readonly type: 'rename'; readonly call: Call; readonly request: RenameRequest }
  | {
      readonly type: 'set-permission-mode'
      readonly call: Call
      readonly mode: PermissionMode
      readonly by: AnsweredBy
    }
  /** Goes on with the agent of an earlier host, together with others. */
  | { readonly type: 'adopt'; readonly call: Call; readonly place: Place }
  /** Sends no prompt until the files of the folder were set back. */
  | { readonly type: 'begin-rewind'; readonly call: Call }

/** Of the agent, or of what runs it. */
type AgentInput =
  /** One read of the agent is one batch. */
  | { readonly type: 'signals'; readonly batch: readonly AgentSignal[] }
  | { readonly type: 'asked'; readonly call: Call; readonly requestId: string; readonly request: AgentRequest }
  /** The agent takes a request back. */
  | { readonly type: 'withdrawn'; readonly requestId: string }
  | { readonly type: 'agent-started'; readonly facts: AgentFacts }
  /** It is configured as it was before. */
  | { readonly type: 'agent-ready' }
  | { readonly type: 'start-failed'; readonly error: unknown }
  | { readonly type: 'send-settled'; readonly turn: number; readonly error?: string }
  /** The agent of an earlier host goes on. */
  | { readonly type: 'adopted'; readonly call: Call; readonly adoption: Adoption }
  | { readonly type: 'adoption-failed'; readonly call: Call; readonly error: unknown }
  /** It waits again for the answer to a request that the log has. */
  | {
      readonly type: 'asked-again'
      readonly call: Call
      readonly requestId: string
      readonly request: AgentRequest
      readonly isForPerson: boolean
      readonly onlyNew?: true
    }
  /** All that it had emitted before is in the log. */
  | { readonly type: 'caught-up' }
  /** What it emitted again is not what the log has. @param turn the one that is emitted again */
  | { readonly type: 'differs'; readonly turn: number | undefined; readonly detail: string }
  | { readonly type: 'agent-ended'; readonly end: AgentEnd }
  | { readonly type: 'agent-stopped'; readonly exit: ProcessExit; readonly failure: SessionFailure | undefined }
  | { readonly type: 'stop-failed'; readonly error: unknown }

/** Of the host itself. */
type HostInput =
  /** What the gate, the rules and the permission mode say about a request. */
  | { readonly type: 'judged'; readonly requestId: string; readonly verdict: Verdict }
  /** A rule or the changed mode answers a request that waits. */
  | { readonly type: 'policy-answer'; readonly requestId: string; readonly said: PolicyAnswer }
  | { readonly type: 'configured'; readonly change: ConfigChange }
  | { readonly type: 'warn'; readonly message: string }
  /** Host events about the start, outside of any turn. */
  | { readonly type: 'report'; readonly entries: readonly LogEntry[] }
  | { readonly type: 'timer'; readonly timer: TimerName; readonly liveChildren: number }
  /** What was used of the budgets that hold for the session has changed. */
  | { readonly type: 'spent'; readonly standings: readonly Standing[] }
  /** The folder after a turn, or before the start with 0: recorded, or why not. */
  | { readonly type: 'recorded'; readonly turn: number; readonly outcome: LogEntry }
  /** With what was done, if anything was. */
  | { readonly type: 'rewind-over'; readonly rewound: Rewound | undefined }
  | { readonly type: 'reviewed'; readonly review: SessionReview }
  /** Continue with the queue. */
  | { readonly type: 'next' }
  /** Complete the log of a run that a dead host left open. */
  | { readonly type: 'repair'; readonly detail: string; readonly ending: Ending }
  /** The host leaves the agent to the next one: nothing more is logged. */
  | { readonly type: 'leave' }

type LogInput =
  /** Events that took effect. */
  | { readonly type: 'stored'; readonly events: readonly SessionEvent[]; readonly agentSessionId: string | undefined }
  /** An event of a host that is gone. */
  | { readonly type: 'replayed'; readonly event: SessionEvent }
  /** The descriptor as the whole log has it: a record that differs was not saved, or was changed by somebody else. */
  | { readonly type: 'rebuilt'; readonly session: Session; readonly meter: UsageMeter }
  | { readonly type: 'write-failed'; readonly input: Input; readonly error: unknown }

type Trace = TraceContext | undefined

export interface Verdict {
  readonly said: PolicyAnswer | undefined
  /** Neither a rule nor a mode may answer it. */
  readonly isForPerson: boolean
  /** For the person who decides about a tool call. */
  readonly facts?: RequestFacts | undefined
}

/** What is known of an agent that was started. */
export interface AgentFacts extends Pick<
  RunningAgent,
  'info' | 'agentSessionId' | 'process' | 'sandbox' | 'kept' | 'warnings'
> {
  /** ISO-8601. */
  readonly startedAt: string
  /** The instructions went through a channel of the agent's own. */
  readonly isInstructed: boolean
  readonly knowsConversation: boolean
  readonly transcript: string | undefined
}

/** How a session goes on with the agent of an earlier host. */
export interface Adoption {
  readonly agent: Pick<RunningAgent, 'info' | 'agentSessionId' | 'process' | 'sandbox' | 'warnings'>
  /** The turn that the agent works on, as far as is known; its end may be in the log. */
  readonly running: { readonly turn: number | undefined; readonly isCancelled: boolean } | undefined
  /** The prompt of the open turn, if the agent did not get it. */
  readonly unsent: Outgoing | undefined
}

/** What the caller of a command gets. */
export interface Replies {
  readonly start: undefined
  readonly resume: undefined
  /** Number of the turn. */
  readonly prompt: number
  readonly interrupt: Interrupted
  readonly kill: { readonly ok: boolean }
  readonly 'give-up': { readonly ok: boolean }
  readonly answer: undefined
  readonly rename: undefined
  readonly 'set-permission-mode': undefined
  readonly 'begin-rewind': undefined
  readonly asked: AgentAnswer
  readonly 'asked-again': AgentAnswer
  readonly adopt: undefined
}

export type InputOf<K extends Input['type']> = Extract<Input, { readonly type: K }>

/** An input of that type without its caller. */
export type CommandOf<K extends keyof Replies> = Omit<InputOf<K>, 'type' | 'call'>
