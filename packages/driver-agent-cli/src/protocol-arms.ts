import type { ProtocolArm } from '@agentproto/contracts'
import type { AgentCliManifest } from '@agentproto/manifest'
import { loadAcpArm } from './protocol/acp.js'
import { loadMcpArm } from './protocol/mcp.js'
import { loadProprietaryArm } from './protocol/proprietary.js'
import type { ProprietaryStart } from './protocol/proprietary.js'

/** How the agent of a manifest is reached: AIP-45's discriminator, decided once. */
export interface LoadedArm {
  readonly arm: ProtocolArm
  /** The executable, and its arguments before those of modes and options; absent where nothing is launched. */
  readonly starts?: { readonly bin: string; readonly args: readonly string[] }
  /** What the arm parses of the manifest. */
  readonly profile?: unknown
}

/** The arm of a manifest's protocol, imported when its first agent starts. */
export async function loadArm(manifest: AgentCliManifest, start: ProprietaryStart): Promise<LoadedArm> {
  switch (manifest.protocol) {
    case 'acp':
      return loadAcpArm(manifest)
    case 'mcp':
      return loadMcpArm(manifest)
    case 'proprietary':
      return loadProprietaryArm(manifest, start)
  }
}
