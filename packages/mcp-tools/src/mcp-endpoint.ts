import {
  AgentprotoError,
  assertMayUse,
  boundsOf,
  BOUNDS,
  isAgentprotoError,
  mayUse,
  systemClock,
  TOOL_SCOPES,
} from '@agentproto/contracts'
import type { AdapterCatalog, Clock, Principal, SessionService, WorkspaceService } from '@agentproto/contracts'
import { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { readRpcBody } from './rpc-body.js'
import { catalogTools } from './tools/catalog.js'
import { requestTools } from './tools/requests.js'
import { sessionTools } from './tools/sessions.js'
import { turnTools } from './tools/turns.js'
import type { Call, Tool } from './tool.js'

/** What the tools are made of: the services that HTTP serves as well. */
export interface McpDeps {
  readonly sessions: SessionService
  readonly adapters: AdapterCatalog
  readonly workspaces: WorkspaceService
  /** Of the gateway. */
  readonly version: string
  /** Default: the system's. */
  readonly clock?: Clock
  /** Told of every throw that is none of our errors, and of what the protocol refuses. Must not throw. */
  readonly onError?: (error: unknown) => void
}

export interface McpEndpoint {
  /**
   * Answers one request of MCP's streamable HTTP, of both protocol eras. Checks no token, Host or Origin: the
   * HTTP app does.
   * @param by Who calls; decides what the tools may do
   * @throws `shutting_down` after `close`
   */
  fetch(request: Request, by: Principal): Promise<Response>
  /** Ends what is still answered. Idempotent. */
  close(): Promise<void>
}

/**
 * Makes the MCP endpoint: the five tools of AIP-46 §MCP tools, by name, and a few more over the same services.
 * Each call is served by a fresh, stateless server, so any client may go on where another stopped.
 */
export function createMcpEndpoint(deps: McpDeps): McpEndpoint {
  const tools = toolsOf(deps)
  const callers = new WeakMap<Request, Principal>()
  const handler = createMcpHandler(
    ({ requestInfo }) => serverOf(deps, tools, requestInfo && callers.get(requestInfo)),
    {
      maxRequestBodySize: BOUNDS.bodyBytes,
      ...(deps.onError === undefined ? {} : { onerror: deps.onError }),
    },
  )
  let closed = false
  return {
    async fetch(request, by) {
      if (closed) throw new AgentprotoError('shutting_down', 'The gateway is shutting down')
      const body = await readRpcBody(request)
      if ('refusal' in body) return body.refusal
      callers.set(request, by)
      return handler.fetch(request, body)
    },
    close() {
      closed = true
      return handler.close()
    },
  }
}

/** All tools by name, in the order of the list. */
function toolsOf({ sessions, adapters, workspaces, clock = systemClock }: McpDeps): ReadonlyMap<string, Tool> {
  const tools = [
    ...sessionTools(sessions),
    ...turnTools(sessions, clock),
    ...requestTools(sessions),
    ...catalogTools(adapters, workspaces),
  ]
  return new Map(tools.map((tool) => [tool.listed.name, tool]))
}

const INSTRUCTIONS =
  'Runs coding agents in sessions: start one, prompt it, wait for its turn, read its output; answer what it asks. One turn at a time per session.'

function serverOf(deps: McpDeps, tools: ReadonlyMap<string, Tool>, by: Principal | undefined): Server {
  const { version } = deps
  if (by === undefined) throw new Error('The request has no principal')
  const server = new Server(
    { name: 'agentproto', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  )
  server.setRequestHandler('tools/list', () => ({ tools: listFor(by, tools) }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const tool = tools.get(params.name)
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}`)
    return answerOf(tool, params.arguments, { by, signal: mcpReq.signal, deps })
  })
  return server
}

/** What a caller may not use costs it no context. */
const listFor = (by: Principal, tools: ReadonlyMap<string, Tool>): Tool['listed'][] =>
  [...tools.values()].map(({ listed }) => listed).filter(({ name }) => mayUse(by, TOOL_SCOPES[name]))

interface Serving {
  readonly by: Principal
  readonly signal: AbortSignal
  readonly deps: Pick<McpDeps, 'sessions' | 'onError'>
}

/** The result of a call; an error is a result too, so that the model that called can read and mend it. */
async function answerOf(tool: Tool, args: unknown, serving: Serving): Promise<CallToolResult> {
  const { onError } = serving.deps
  try {
    const structuredContent = { ...(await tool.call(args, callOf(tool, serving))) }
    return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] }
  } catch (thrown) {
    if (!isAgentprotoError(thrown)) onError?.(thrown)
    const error = isAgentprotoError(thrown)
      ? thrown
      : new AgentprotoError('internal', 'The gateway failed while it answered')
    return { isError: true, content: [{ type: 'text', text: JSON.stringify(error.toProblem()) }] }
  }
}

/** @throws `forbidden`, `delegation_denied` */
function callOf({ listed }: Tool, { by, signal, deps }: Serving): Call {
  const scope = TOOL_SCOPES[listed.name]
  assertMayUse(by, scope)
  const within = boundsOf(by, scope)
  const reach: Call['reach'] = async (id) => (within === undefined ? undefined : deps.sessions.get(id, within))
  return { by, within, signal, reach }
}
