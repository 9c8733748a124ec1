import type { ManifestCapabilities } from './agent-cli-manifest.js'
import type { AcpProfile } from './parse-acp.js'
import type { RuleContext } from './parse-manifest.js'

/** AIP-45: what a manifest declares must be a subset of what its bound ACP.md declares. */
export function capabilityProblems(
  { problems, at }: Pick<RuleContext, 'problems' | 'at'>,
  declared: ManifestCapabilities,
  { agent, name }: AcpProfile,
): void {
  if (declared.resumable && !agent.loadSession) {
    problems.error('capability_undeclared', at('capabilities', 'resumable'), {
      message: `\`capabilities.resumable\` is more than the ACP.md of ${name} declares.`,

      expected: 'metadata.aip44.capabilities.agent.loadSession: true in the ACP.md',
      given: true,
      suggestion: 'resumable: false',
    })
  }
  if (declared.multimodal && !agent.image && !agent.audio) {
    problems.error('capability_undeclared', at('capabilities', 'multimodal'), {
      message: `\`capabilities.multimodal\` is more than the ACP.md of ${name} declares.`,

      expected: 'promptCapabilities.image or .audio: true in the ACP.md',
      given: true,
      suggestion: 'multimodal: false',
    })
  }
}
