import type { McpDeps, McpEndpoint } from '@agentproto/mcp-tools'

/** The MCP endpoint, loaded at its first request: most gateways never get one, and its SDK is large. */
export function lazyMcp(deps: McpDeps): McpEndpoint {
  let endpoint: Promise<McpEndpoint> | undefined
  return {
    async fetch(request, by) {
      endpoint ??= import('@agentproto/mcp-tools').then(({ createMcpEndpoint }) => createMcpEndpoint(deps))
      return (await endpoint).fetch(request, by)
    },
    close: async () => (await endpoint)?.close(),
  }
}
