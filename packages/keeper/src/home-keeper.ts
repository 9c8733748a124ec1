import type { Clock } from '@agentproto/contracts'
import type { AgentGuard, AgentKeeper, KeptLoss } from '@agentproto/contracts/agent'
import type { Bounds } from './program/bounds.js'

export interface KeeperOptions {
  /** `homeLayout(home).keeper`. */
  readonly folder: string
  /** How long idle agents live without a gateway, in milliseconds. */
  readonly orphanMs: number
  readonly clock?: Clock
  /**
   * Whether this host still has the home: then it takes back a keeper that another program took, and goes on with its agents.
   * Default: it does not.
   */
  readonly hasHome?: () => boolean
  /** Called with what a person should know. */
  readonly onProblem?: (problem: string) => void
  /** Other bounds for a keeper that is started; see docs/keeper.md. */
  readonly bounds?: Partial<Bounds>
}

/** The keeper as others see it. */
export interface KeeperInfo {
  readonly pid: number
  /** Version of the wire that is spoken. */
  readonly wire: number
  /** Version of the program, `+`, and a part of a hash of its code. */
  readonly build: string
}

/** The keeper of a home, for its only controller. */
export interface HomeKeeper extends AgentKeeper {
  readonly info: KeeperInfo
  /** Settles with a reason when the keeper ended, was taken over by another gateway, or `close` was called. */
  readonly lost: Promise<KeptLoss>
  /** What it holds. @throws `keeper_unavailable` */
  list(): Promise<readonly ListedAgent[]>
  /**
   * What has one of these markers runs only for so long, unless this is called again in time: then the keeper ends it. What an
   * earlier call has named is not guarded any more.
   * @returns false for an earlier keeper, which cannot. @throws `keeper_unavailable`
   */
  guard(guard: AgentGuard): Promise<boolean>
  /** Sends a signal to the group of an agent. @returns false when it has ended. @throws `keeper_unavailable` */
  signal(key: string, signal: NodeJS.Signals): Promise<boolean>
  /** Ends the keeper if it holds nothing. @returns whether it did. @throws `keeper_unavailable` */
  stop(): Promise<boolean>
  /** Leaves everything to the next gateway. */
  close(): void
}

/** One row of `list`. */
export interface ListedAgent {
  readonly key: string
  readonly pid: number
  readonly startTime: string
  readonly isBusy: boolean
  readonly hasEnded: boolean
  /** Bytes of all streams that are kept. */
  readonly keptBytes: number
  /** Why a stream of it is not read at present. */
  readonly stalled?: 'full' | 'disk'
}
