import type { AgentCapabilities } from '@agentproto/contracts'
import type { McpServer, OpenSessionOptions } from '@agentproto/contracts/agent'
import { openParams } from '../capabilities.js'

/**
 * As `openParams`, for an agent that runs elsewhere. Programs of this host and servers on its loopback are not there where the
 * agent is, and what is in their settings, such as a token of this gateway, is not for another host.
 */
export function remoteParams(
  options: OpenSessionOptions,
  capabilities: AgentCapabilities,
): ReturnType<typeof openParams> {
  const mcpServers = options.mcpServers.flatMap(reachable)
  const names = new Set(mcpServers.map(({ name }) => name))
  const left = options.mcpServers.filter(({ name }) => !names.has(name))
  const { params, warnings } = openParams({ ...options, mcpServers }, capabilities)
  const notMounted = left.map(
    ({ name }) => `The agent runs elsewhere: the MCP server "${name}" of this host is not mounted.`,
  )
  return { params, warnings: [...notMounted, ...warnings] }
}

function reachable(server: McpServer): McpServer[] {
  if (!('type' in server) || isLoopback(server.url)) return []
  const { otherwise: _, ...remote } = server
  return [remote]
}

function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return true
  const { hostname } = new URL(url)
  return /^(localhost|.*\.localhost|127\.[\d.]+|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[\da-f]{2}:[\da-f]+\])\.?$/i.test(
    hostname,
  )
}
