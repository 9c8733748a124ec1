// The MCP tools of agentproto. This file is the package's contract: every export is named here.
export { createMcpEndpoint } from './mcp-endpoint.js'
export type { McpEndpoint } from './mcp-endpoint.js'
export { serveMcpStdio } from './mcp-stdio.js'
export type { McpStdio, McpStdioOptions } from './mcp-stdio.js'
export type { McpDeps, ToolSessions } from './services.js'
