import type { AgentCliManifest } from '@agentproto/manifest'
import type { LoadedArm } from './loaded-arm.js'
import { loadAcpArm } from './acp.js'
import { loadMcpArm } from './mcp.js'
import { loadProprietaryArm } from './proprietary.js'
import type { ProprietaryStart } from './proprietary.js'

/** The arm of a manifest's protocol, imported when its first agent starts. */
export async function loadArm(manifest: AgentCliManifest, start: ProprietaryStart): Promise<LoadedArm> {
  switch (manifest.protocol) {
    case 'acp':
      return loadAcpArm(manifest)
    case 'mcp':
      return loadMcpArm(manifest)
    case 'proprietary':
      return loadProprietaryArm(manifest, start)
    default:
      return manifest satisfies never
  }
}
