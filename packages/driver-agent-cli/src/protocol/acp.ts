import type { ProtocolArm } from '@agentproto/contracts'

/** AIP-45 `protocol: acp`, spoken by `@agentproto/acp` (AIP-44). */
export async function loadAcpArm(): Promise<ProtocolArm> {
  const { acpArm } = await import('@agentproto/acp')
  return acpArm
}
