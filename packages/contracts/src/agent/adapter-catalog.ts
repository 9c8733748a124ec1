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
  /** Whether its executable is found on this host now. */
  readonly installed: boolean
  /** Where its manifest came from. */
  readonly source: 'bundled' | 'user' | 'workspace' | 'host'
  /** What to run when it is not installed. */
  readonly installHint?: string
  /** What of the manifest nobody has seen on a real agent, in its author's words; absent where all was. */
  readonly unverified?: readonly string[]
  /** Ids of its modes. */
  readonly modes: readonly string[]
  readonly session: AdapterSessionPolicy
}

/** AIP-45 `session`, with its defaults filled in. */
export interface AdapterSessionPolicy {
  readonly mode: 'ephemeral' | 'persistent' | 'resumable'
  /** Milliseconds; absent when the manifest does not state it. */
  readonly idleTimeoutMs?: number
  readonly maxTurns?: number
  /** AIP-45 `continuation.supported`; absent where the manifest declares none. */
  readonly continuation?: readonly ContinuationStrategy[]
  /** The agent takes up a conversation by arguments of its own start. */
  readonly resumesByFlags?: boolean
  /** The time between two starts of the agent with one conversation, in milliseconds; absent for none. */
  readonly resumeAfterMs?: number
  /** The agent's own modes that fit each permission mode, the best first, where its manifest says so. */
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
