import { realpathSync } from 'node:fs'
import type { McpServer, StdioMcpServer } from '@agentproto/contracts'

export interface ToolsFor {
  readonly sessionId: string
  readonly url: string
  /** The session's own. */
  readonly token: string
  /** Absolute path of `agentproto`; absent where the gateway was made without one. */
  readonly bin?: string | undefined
}

const NAME = 'agentproto'

/** The gateway's own tools, as an MCP server of an agent's: over HTTP, or as a program for one that reaches none so. */
export function gatewayTools(tools: ToolsFor): McpServer {
  const { url, token, bin } = tools
  const headers = [{ name: 'Authorization', value: `Bearer ${token}` }]
  const http = { type: 'http' as const, name: NAME, url: `${url}/mcp`, headers }
  return bin === undefined ? http : { ...http, otherwise: program(bin, tools) }
}

/** `agentproto mcp`. It finds gateway and token in its environment: arguments are for everybody to see. */
function program(bin: string, { sessionId, url, token }: ToolsFor): StdioMcpServer {
  // Agents hand their servers little of their own environment, so that the session's marker is said here, too.
  const env = { AGENTPROTO_URL: url, AGENTPROTO_TOKEN: token, AGENTPROTO_SESSION_ID: sessionId }
  const [command, ...script] = runnable(bin)
  return {
    name: NAME,
    command,
    args: [...script, 'mcp'],
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
  }
}

/** A script is run by this Node: there need not be one on the agent's PATH. */
const runnable = (bin: string): [string, ...string[]] =>
  /\.[cm]?js$/.test(resolved(bin)) ? [process.execPath, bin] : [bin]

function resolved(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
