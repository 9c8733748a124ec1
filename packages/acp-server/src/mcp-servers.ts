import type { McpServer as AcpMcpServer } from '@agentclientprotocol/sdk'
import type { McpServer } from '@agentproto/contracts/agent'

/** The MCP servers of a client's session, without the client's metadata. */
export function mcpServers(given: readonly AcpMcpServer[]): McpServer[] {
  return given.map((server) => {
    const { name } = server
    if (!('type' in server)) return { name, command: server.command, args: [...server.args], env: pairs(server.env) }
    return { type: server.type, name, url: server.url, headers: pairs(server.headers) }
  })
}

const pairs = (
  given: readonly { readonly name: string; readonly value: string }[],
): { name: string; value: string }[] => given.map(({ name, value }) => ({ name, value }))
