import { realpathSync } from 'node:fs'
import type { McpServer, StdioMcpServer } from '@agentproto/contracts/agent'

export interface GatewayToolsOptions {
  readonly sessionId: string
  readonly url: string
  /** The token of the session. */
  readonly token: string
  /** Absolute path of `agentproto`; undefined for a gateway without a command line. */
  readonly bin?: string | undefined
}

const NAME = 'agentproto'

/** The gateway's tools as an MCP server for an agent: over HTTP, or as a program for an agent that cannot use HTTP servers. */
export function gatewayTools(tools: GatewayToolsOptions): McpServer {
  const { url, token, bin } = tools
  const headers = [{ name: 'Authorization', value: `Bearer ${token}` }]
  const http = { type: 'http' as const, name: NAME, url: `${url}/mcp`, headers }
  return bin === undefined ? http : { ...http, otherwise: program(bin, tools) }
}

/** `agentproto mcp`. Gateway and token are in its environment, because arguments are visible to all users. */
function program(bin: string, { sessionId, url, token }: GatewayToolsOptions): StdioMcpServer {
  // Agents pass little of their own environment to their servers, so the session's marker is set here too.
  const env = { AGENTPROTO_URL: url, AGENTPROTO_TOKEN: token, AGENTPROTO_SESSION_ID: sessionId }
  const [command, ...script] = runnable(bin)
  return {
    name: NAME,
    command,
    args: [...script, 'mcp'],
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
  }
}

/** A script is run by this Node: there may be none on the agent's PATH. */
const runnable = (bin: string): [string, ...string[]] =>
  /\.[cm]?js$/.test(resolved(bin)) ? [process.execPath, bin] : [bin]

function resolved(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
