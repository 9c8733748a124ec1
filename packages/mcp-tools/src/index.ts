// The MCP tools of agentproto. This file is the package's contract: every export is named here.
export { createMcpEndpoint } from './mcp-endpoint.js'
export type { McpDeps, McpEndpoint } from './mcp-endpoint.js'
