import type { AcpArmProfile } from '@agentproto/acp'
import type { McpProfileInput } from '@agentproto/arm-mcp'
import type { ProprietaryProfile } from '@agentproto/arm-proprietary'
import { defined } from '@agentproto/contracts'
import type { ProtocolArm, StartAgentOptions } from '@agentproto/contracts/agent'
import type { AgentCliManifest, AgentEndpoint } from '@agentproto/manifest'
import type { AgentHost } from '../agent-host.js'
import { manifestHint } from './manifest-hint.js'

/** How the agent of a manifest is reached. */
export interface LoadedArm {
  readonly arm: ProtocolArm
  /** The executable, and its arguments before those of modes and options; absent where nothing is launched. */
  readonly starts?: { readonly bin: string; readonly args: readonly string[] }
  /** What the arm parses of the manifest. */
  readonly profile?: unknown
  /** Where an agent that speaks ACP is reached, if it is not launched. */
  readonly endpoint?: AgentEndpoint
}

/** How a session begins, as far as an adapter package must know when it connects. */
export interface ArmStart extends Pick<StartAgentOptions, 'origin' | 'additionalDirectories'> {
  readonly host: Pick<AgentHost, 'proprietary'>
}

/** AIP-45's discriminator `protocol`. Each arm is imported when its first agent starts. */
export async function loadArm(manifest: AgentCliManifest, start: ArmStart): Promise<LoadedArm> {
  const { bin, binArgs } = manifest
  switch (manifest.protocol) {
    case 'acp': {
      const { acpArm } = await import('@agentproto/acp')
      const { endpoint } = manifest
      const reached = endpoint === undefined ? { starts: { bin, args: binArgs } } : { endpoint }
      return { arm: acpArm, profile: acpProfile(manifest), ...reached }
    }
    case 'mcp': {
      const { mcpArm } = await import('@agentproto/arm-mcp')
      const starts = mcpCommand(manifest)
      return { arm: mcpArm, profile: mcpProfile(manifest), ...defined({ starts }) }
    }
    case 'proprietary': {
      const { proprietaryArm } = await import('@agentproto/arm-proprietary')
      return { arm: proprietaryArm, starts: { bin, args: binArgs }, profile: proprietaryProfile(manifest, start) }
    }
  }
}

type Manifest<Protocol> = Extract<AgentCliManifest, { protocol: Protocol }>

/** The arm checks it. */
const acpProfile = (manifest: Manifest<'acp'>): AcpArmProfile => ({ usage: manifestHint(manifest, 'usage') })

/** `mcp.command` and `mcp.args` replace `bin` and `bin_args` where they are stated; a server behind a URL is not launched. */
function mcpCommand({ mcp, bin, binArgs }: Manifest<'mcp'>): LoadedArm['starts'] {
  if (mcp.transport !== 'stdio') return undefined
  const isStated = mcp.command !== bin || mcp.args.length > 0
  return { bin: mcp.command, args: isStated ? mcp.args : binArgs }
}

/** The arm checks `data`. */
const mcpProfile = (manifest: Manifest<'mcp'>): McpProfileInput => ({
  transport: manifest.mcp.transport,
  resumable: manifest.capabilities.resumable,
  ...defined({
    data: manifestHint(manifest, 'mcp'),
    url: manifest.mcp.transport === 'stdio' ? undefined : manifest.mcp.url,
  }),
})

const proprietaryProfile = (
  manifest: Manifest<'proprietary'>,
  { host, origin, additionalDirectories }: ArmStart,
): ProprietaryProfile => ({
  adapter: manifest.adapter,
  allowed: host.proprietary ?? {},
  capabilities: manifest.capabilities,
  additionalDirectories,
  ...defined({
    settings: manifestHint(manifest, 'adapter'),
    resume: origin.how === 'new' ? undefined : origin.agentSessionId,
  }),
})
