import type { PermissionMode } from '../agent-request.js'

/** AIP-45 `session`, with its defaults filled in. */
export interface AdapterSessionPolicy {
  readonly mode: 'ephemeral' | 'persistent' | 'resumable'
  /** Milliseconds; absent if the manifest does not state it. */
  readonly idleTimeoutMs?: number
  readonly maxTurns?: number
  /** AIP-45 `continuation.supported`; absent if the manifest declares none. */
  readonly continuation?: readonly ContinuationStrategy[]
  /** The agent resumes a conversation by start arguments. */
  readonly resumesByFlags?: boolean
  /** Minimum milliseconds between two starts with the same conversation; absent for none. */
  readonly resumeAfterMs?: number
  /** Its agents get a description of their session, unless a spawn says otherwise. */
  readonly envelope?: boolean
  /** The modes of the agent that match each permission mode, best first, if the manifest declares them. */
  readonly permissionModes?: Readonly<Partial<Record<PermissionMode, readonly string[]>>>
}

/** AIP-45: how prior turns reach an agent. */
export type ContinuationStrategy = (typeof CONTINUATION_STRATEGIES)[number]
export const CONTINUATION_STRATEGIES = ['pinned-session', 'transcript', 'native-resume', 'none'] as const
