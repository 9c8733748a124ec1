// AIP-45 `protocol: mcp`: an agent that is an MCP server. This file is the package's contract: every export is named here.
export { connectMcp, mcpArm } from './arm.js'
export { parseProfile } from './profile.js'
export type { McpProfile, McpProfileInput } from './profile.js'
