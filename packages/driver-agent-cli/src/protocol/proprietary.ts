import type { ProprietaryProfile } from '@agentproto/arm-proprietary'
import type { StartAgentOptions } from '@agentproto/contracts'
import type { AgentCliManifest } from '@agentproto/manifest'
import type { AgentHost } from '../agent-host.js'
import { manifestHint } from '../launch/manifest-hint.js'
import type { LoadedArm } from './loaded-arm.js'

/** How a session is to begin, as far as an adapter must know when it connects. */
export interface ProprietaryStart extends Pick<StartAgentOptions, 'origin' | 'additionalDirectories'> {
  readonly host: Pick<AgentHost, 'proprietary'>
}

/** AIP-45 `protocol: proprietary`, spoken by an adapter package that `@agentproto/arm-proprietary` loads. */
export async function loadProprietaryArm(
  manifest: Extract<AgentCliManifest, { protocol: 'proprietary' }>,
  { host, origin, additionalDirectories }: ProprietaryStart,
): Promise<LoadedArm> {
  const { proprietaryArm } = await import('@agentproto/arm-proprietary')
  const { adapter, bin, binArgs, capabilities } = manifest
  const settings = manifestHint(manifest, 'adapter')
  const profile: ProprietaryProfile = {
    adapter,
    allowed: host.proprietary ?? {},
    capabilities,
    additionalDirectories,
    ...(settings === undefined ? {} : { settings }),
    ...(origin.how === 'new' ? {} : { resume: origin.agentSessionId }),
  }
  return { arm: proprietaryArm, starts: { bin, args: binArgs }, profile }
}
