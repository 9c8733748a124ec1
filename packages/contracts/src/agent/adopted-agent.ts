import type { AgentProcessInfo, AgentSink, RunningAgent, StartAgentOptions } from './agent.js'
import type { AdoptedSession } from './protocol-arm.js'

/** A running agent that an earlier host has started; nothing of it was read yet. */
export interface AdoptedAgent extends RunningAgent, Pick<AdoptedSession, 'mark' | 'caughtUp' | 'begin'> {}

export interface AdoptAgentOptions extends StartAgentOptions {
  /** The process of the session, as {@link RunningAgent.process} was. */
  readonly process?: AgentProcessInfo
}

/**
 * Goes on with the agent of a session that an earlier host has started; `origin` is of no account. A rejection leaves the agent
 * running.
 * @returns undefined when no such agent is kept
 * @throws `not_adoptable`, `keeper_unavailable`
 */
export type AdoptAgent = (options: AdoptAgentOptions, sink: AgentSink) => Promise<AdoptedAgent | undefined>
