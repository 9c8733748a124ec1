import { type ChangeLimits, createChangeStore } from '@agentproto/changes'
import { type Clock, defined } from '@agentproto/contracts'
import type { HomeLayout } from '@agentproto/contracts/agent'
import type { SessionRegistryOptions } from '@agentproto/session-registry'

/** The limits are those of one checkpoint; absent members have defaults. */
export interface CheckpointOptions extends Partial<ChangeLimits> {
  /** Default true. */
  readonly enabled?: boolean
  /** Checkpoints older than this are deleted, in milliseconds; 0 for never. Default 30 days. */
  readonly maxAgeMs?: number
}

interface RecordingSettings {
  readonly checkpoints?: CheckpointOptions
  readonly inMemory: boolean
  readonly layout: HomeLayout
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}

/** What records the folders of sessions: in shadow repositories of the home. */
export function recording({
  checkpoints = {},
  inMemory,
  layout,
  env,
  clock,
}: RecordingSettings): Pick<SessionRegistryOptions, 'changes' | 'checkpointAgeMs'> {
  const { enabled = true, maxAgeMs: checkpointAgeMs, ...limits } = checkpoints
  if (!enabled || inMemory) return {}
  const changes = createChangeStore({ home: layout.root, limits, clock, ...defined({ env }) })
  return { changes, ...defined({ checkpointAgeMs }) }
}
