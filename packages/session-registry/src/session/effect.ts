import type { AgentRequest, TraceContext } from '@agentproto/contracts'
import type { Ending } from '../lifecycle/ending.js'
import type { How, Resumption } from '../lifecycle/resume.js'
import type { EntryGroup } from '../log/event-log.js'
import type { TimerName } from './input.js'
import type { Call, Outgoing, SessionState } from './state.js'

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
  | { readonly do: 'send'; readonly turn: number; readonly prompt: Outgoing }
  | { readonly do: 'cancel' }
  /** End the agent and its children. */
  | { readonly do: 'stop'; readonly cause: Ending }
  /** Ask the gate, the rules and the permission mode. */
  | { readonly do: 'judge'; readonly requestId: string; readonly request: AgentRequest }
  | { readonly do: 'forget-once-rules' }
  /** `at` in milliseconds since the epoch. */
  | { readonly do: 'arm'; readonly timer: TimerName; readonly at: number }
  | { readonly do: 'disarm'; readonly timer: TimerName }
  /** Continue with the queue before any other input. */
  | { readonly do: 'next' }
  /** The run is over: readers of the log come to its end. */
  | { readonly do: 'settle' }

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
