import { AgentprotoError, defined, type Principal } from '@agentproto/contracts'
import { BOUNDS } from '@agentproto/contracts/wire'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { readRpcBody } from './rpc-body.js'
import type { McpDeps } from './services.js'
import { type ToolCaller, toolServers } from './tool-server.js'

export interface McpEndpoint {
  /**
   * Answers one request of MCP's streamable HTTP, of both protocol eras. The HTTP app checks token, Host and Origin before.
   * @param by The caller, who decides what the tools may do
   * @param ended Aborts when the token of the caller ends: then its calls get no result
   * @throws `shutting_down` after `close`
   */
  fetch(request: Request, by: Principal, ended?: AbortSignal): Promise<Response>
  /** Ends open requests. Idempotent. */
  close(): Promise<void>
}

/**
 * Creates the MCP endpoint: the five tools of AIP-46 §MCP tools and a few more, over the services of HTTP. Each request is served
 * by a fresh, stateless server, so any client may continue where another stopped.
 */
export function createMcpEndpoint(deps: McpDeps): McpEndpoint {
  const serverFor = toolServers(deps)
  const callers = new WeakMap<Request, ToolCaller>()
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const caller = requestInfo && callers.get(requestInfo)
      if (caller === undefined) throw new Error('The request has no principal')
      return serverFor(caller)
    },
    {
      maxRequestBodySize: BOUNDS.bodyBytes,
      ...(deps.onError === undefined ? {} : { onerror: deps.onError }),
    },
  )
  let closed = false
  return {
    async fetch(request, by, ended) {
      if (closed) throw new AgentprotoError('shutting_down', 'The gateway is shutting down')
      const body = await readRpcBody(request)
      if ('refusal' in body) return body.refusal
      callers.set(request, defined({ by, ended }))
      return handler.fetch(request, body)
    },
    close() {
      closed = true
      return handler.close()
    },
  }
}
