import { AgentprotoError, PROTOCOLS } from '@agentproto/contracts'
import type { ProtocolArm } from '@agentproto/contracts'
import type { AgentCliManifest } from '@agentproto/manifest'
import { loadAcpArm } from './protocol/acp.js'
import { loadMcpArm } from './protocol/mcp.js'

/** How the agent of a manifest is reached: AIP-45's discriminator, decided once. */
export interface LoadedArm {
  readonly arm: ProtocolArm
  /** The executable, and its arguments before those of modes and options; absent where nothing is launched. */
  readonly starts?: { readonly bin: string; readonly args: readonly string[] }
  /** What the arm parses of the manifest. */
  readonly profile?: unknown
}

/**
 * The arm of a manifest's protocol, imported when its first agent starts.
 * @throws `protocol_unsupported`
 */
export async function loadArm(manifest: AgentCliManifest): Promise<LoadedArm> {
  switch (manifest.protocol) {
    case 'acp':
      return loadAcpArm(manifest)
    case 'mcp':
      return loadMcpArm(manifest)
    default:
      throw new AgentprotoError('protocol_unsupported', `Agents that speak ${manifest.protocol} cannot be driven`, {
        expected: `one of ${PROTOCOLS.join(', ')}`,
        given: manifest.protocol,
      })
  }
}
