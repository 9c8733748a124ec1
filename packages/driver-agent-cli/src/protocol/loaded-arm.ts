import type { ProtocolArm } from '@agentproto/contracts'

/** How the agent of a manifest is reached: AIP-45's discriminator, decided once. */
export interface LoadedArm {
  readonly arm: ProtocolArm
  /** The executable, and its arguments before those of modes and options; absent where nothing is launched. */
  readonly starts?: { readonly bin: string; readonly args: readonly string[] }
  /** What the arm parses of the manifest. */
  readonly profile?: unknown
}
