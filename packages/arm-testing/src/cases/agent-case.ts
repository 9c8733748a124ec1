import type { Clock, TurnEnd } from '@agentproto/contracts'
import type { AgentCaseId, AgentSignal } from '@agentproto/contracts/agent'
import type { RecordingSink } from '../recording-sink.js'

/** What an agent does in a session, checked in the same way by the tests of an arm and by a report to the agent's author. */
export interface AgentCase {
  readonly id: AgentCaseId
  /** What is true of an agent that passes. */
  readonly title: string
  /** The prompt that it is about; without it, the case is skipped. */
  readonly about: keyof CasePrompts | 'none'
  /**
   * @returns what was seen, for people
   * @throws {@link CaseFailure}, {@link CaseSkipped}
   */
  readonly run: (around: CaseAround) => Promise<string>
}

/** An agent with an open session of its own. */
export interface CaseAgent {
  readonly sink: RecordingSink
  /** As `ArmSession.send`, with one text. */
  readonly send: (text: string) => Promise<void>
  readonly cancel: () => Promise<void>
  /** Ends it with everything that it started. Idempotent. */
  readonly end: () => Promise<unknown>
  /** Command lines of its processes that live. */
  readonly living: () => readonly string[]
  /** Starts it again with the same conversation, once it has ended; absent for an agent that does not offer it. */
  readonly again?: () => Promise<CaseAgent>
}

/** Texts that make the agent do something; what a text does, its author knows. */
export interface CasePrompts {
  /** Has a short answer without a tool. */
  readonly answer: string
  /** Writes for some seconds. */
  readonly long: string
  /** Makes the agent request a permission. */
  readonly permission?: string
  /** Makes the agent use a tool for which it requests no permission. */
  readonly tool?: string
}

export interface CaseLimits {
  /** The longest that a turn may take, in milliseconds. */
  readonly answerMs: number
  /** The longest that a cancelled turn may take to end. */
  readonly cancelMs: number
}

export interface CaseAround {
  readonly agent: CaseAgent
  readonly prompts: CasePrompts
  readonly limits: CaseLimits
  readonly clock: Clock
}

/** An agent does not do what a case is about. */
export class CaseFailure extends Error {
  override readonly name = 'CaseFailure'
  readonly expected: string
  readonly seen: string

  constructor(expected: string, seen: string) {
    super(`expected ${expected}; seen: ${seen}`)
    this.expected = expected
    this.seen = seen
  }
}

/** A case that says nothing about this agent. The message is the reason. */
export class CaseSkipped extends Error {
  override readonly name = 'CaseSkipped'
}

/** The signals of one turn that has ended. */
export interface EndedTurn {
  readonly signals: readonly AgentSignal[]
  readonly end: TurnEnd
}
