import type { Clock } from '@agentproto/contracts'
import type { EventReader } from '@agentproto/contracts/wire'
import type { Cluster } from '../cluster/cluster.js'

export interface LogPublisherOptions {
  readonly cluster: Pick<Cluster, 'nats' | 'maxPayload' | 'signatures'>
  readonly clock: Clock
  /** With which epoch this host owns a session; undefined if it does not. */
  readonly epochOf: (sessionId: string) => number | undefined
  /** Whether this host may write of the session now: it holds its lease and knows the session's record. */
  readonly mayWrite: (sessionId: string) => boolean
  /** The log has a message of a later owner. */
  readonly onFenced: (sessionId: string, epoch: number) => void
  /** Called with problems that are no call's error. */
  readonly onProblem: (problem: string) => void
}

/** Starts a reader of the local log after a number. */
export type Follow = (after: number) => Promise<EventReader>
