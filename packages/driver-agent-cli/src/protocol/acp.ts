import type { AgentCliManifest } from '@agentproto/manifest'
import type { LoadedArm } from './loaded-arm.js'

/** AIP-45 `protocol: acp`, spoken by `@agentproto/acp` (AIP-44). */
export async function loadAcpArm({ bin, binArgs }: AgentCliManifest): Promise<LoadedArm> {
  const { acpArm } = await import('@agentproto/acp')
  return { arm: acpArm, starts: { bin, args: binArgs } }
}
