import type { PermissionMode } from '../agent-request.js'
import type { Protocol } from './protocol-arm.js'

/** The adapters that a gateway can spawn: each is an AIP-45 manifest. */

export interface AdapterSummary {
  readonly slug: string
  readonly name: string
  readonly description: string
  /** Version of the manifest. */
  readonly version: string
  readonly protocol: Protocol
  /** Whether its executable is on this host. */
  readonly installed: boolean
  /** Where its manifest came from. */
  readonly source: 'bundled' | 'user' | 'workspace' | 'host'
  /** How to install it. */
  readonly installHint?: string
  /** Parts of the manifest that were not verified with the real agent, in the words of its author; absent if all were. */
  readonly unverified?: readonly string[]
  /** Ids of its modes. */
  readonly modes: readonly string[]
  readonly session: AdapterSessionPolicy
}

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
  /** The modes of the agent that match each permission mode, best first, if the manifest declares them. */
  readonly permissionModes?: Readonly<Partial<Record<PermissionMode, readonly string[]>>>
}

/** AIP-45: how prior turns reach an agent. */
export type ContinuationStrategy = (typeof CONTINUATION_STRATEGIES)[number]
export const CONTINUATION_STRATEGIES = ['pinned-session', 'transcript', 'native-resume', 'none'] as const

export interface AdapterCatalog {
  list(): Promise<readonly AdapterSummary[]>
  /** @throws `adapter_not_found`, naming the known ones */
  get(slug: string): Promise<AdapterSummary>
}
