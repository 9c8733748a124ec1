import type { RunningAgent } from '@agentproto/contracts/agent'
import type { SessionSink } from './session-sink.js'

/** A started agent, and the one that listens to it. */
export interface Launched {
  readonly agent: RunningAgent
  readonly sink: SessionSink
}
