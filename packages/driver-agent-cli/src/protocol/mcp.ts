import type { McpProfileInput } from '@agentproto/arm-mcp'
import type { AgentCliManifest } from '@agentproto/manifest'
import { manifestHint } from '../launch/manifest-hint.js'
import type { LoadedArm } from './loaded-arm.js'

/** AIP-45 `protocol: mcp`, spoken by `@agentproto/arm-mcp`; a server behind a URL is not launched. */
export async function loadMcpArm(manifest: Extract<AgentCliManifest, { protocol: 'mcp' }>): Promise<LoadedArm> {
  const { mcpArm } = await import('@agentproto/arm-mcp')
  const { mcp, bin, binArgs, capabilities } = manifest
  // The arm checks it.
  const data = manifestHint(manifest, 'mcp')
  const profile: McpProfileInput = {
    transport: mcp.transport,
    resumable: capabilities.resumable,
    ...(data === undefined ? {} : { data }),
    ...(mcp.transport === 'stdio' ? {} : { url: mcp.url }),
  }
  if (mcp.transport !== 'stdio') return { arm: mcpArm, profile }
  // `mcp.command` and `mcp.args` stand for `bin` and `bin_args` where they are stated.
  const own = mcp.command !== bin || mcp.args.length > 0
  return { arm: mcpArm, starts: { bin: mcp.command, args: own ? mcp.args : binArgs }, profile }
}
