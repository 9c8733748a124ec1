import {
  AgentprotoError,
  assertMayUse,
  boundsOf,
  isAgentprotoError,
  mayUse,
  systemClock,
  traceOf,
} from '@agentproto/contracts'
import type { Clock, ErrorCode, Principal, Scope } from '@agentproto/contracts'
import { TOOLS } from '@agentproto/contracts/wire'
import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import type { Tool } from './tool.js'
import type { Call, ToolAdapters, ToolSessions, ToolWorkspaces } from './tool-services.js'
import { catalogTools } from './tools/catalog.js'
import { requestTools } from './tools/requests.js'
import { sessionTools } from './tools/sessions.js'
import { turnTools } from './tools/turns.js'

/** What the tools are made of: the services that HTTP serves as well. */
export interface McpDeps {
  readonly sessions: ToolSessions
  readonly adapters: ToolAdapters
  readonly workspaces: ToolWorkspaces
  /** Of the gateway. */
  readonly version: string
  /** Default: the system's. */
  readonly clock?: Clock
  /** Told of a caller whose scope does not cover a tool that it called. Must not throw. */
  readonly onRefused?: (refused: { readonly code: ErrorCode; readonly by: Principal; readonly tool: string }) => void
  /** Told of every throw that is none of our errors, and of what the protocol refuses. Must not throw. */
  readonly onError?: (error: unknown) => void
}

/** All tools by name, in the order of the list. */
export function toolsOf({ sessions, adapters, workspaces, clock = systemClock }: McpDeps): ReadonlyMap<string, Tool> {
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

/** A server of the tools, for one caller. */
export function toolServer(deps: McpDeps, tools: ReadonlyMap<string, Tool>, by: Principal): Server {
  const server = new Server(
    { name: 'agentproto', version: deps.version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  )
  server.setRequestHandler('tools/list', () => ({ tools: listFor(by, tools) }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const tool = tools.get(params.name)
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}`)
    return answerOf(tool, params.arguments, { by, request: mcpReq, deps })
  })
  return server
}

/** What a caller may not use costs it no context. */
const listFor = (by: Principal, tools: ReadonlyMap<string, Tool>): Tool['listed'][] =>
  [...tools.values()].map(({ listed }) => listed).filter(({ name }) => mayUse(by, scopeOf(name)))

const scopeOf = (name: string): Scope | undefined => (TOOLS as Readonly<Record<string, { scope: Scope }>>)[name]?.scope

interface Serving {
  readonly by: Principal
  readonly request: ServerContext['mcpReq']
  readonly deps: Pick<McpDeps, 'sessions' | 'onError' | 'onRefused'>
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
function callOf({ listed }: Tool, { by, request, deps }: Serving): Call {
  const scope = scopeOf(listed.name)
  if (!mayUse(by, scope)) refuse(by, scope, (code) => deps.onRefused?.({ code, by, tool: listed.name }))
  const within = boundsOf(by, scope)
  const reach: Call['reach'] = async (id) => (within === undefined ? undefined : deps.sessions.get(id, within))
  // The trace that a client names of a call is nearer to it than that of its HTTP request.
  const { _meta: meta } = request
  const { traceparent, tracestate } = meta ?? {}
  const trace = traceOf({ traceparent, tracestate })
  const caller = trace === undefined ? by : { ...by, trace }
  return { by: caller, within, signal: request.signal, reach, progress: progressOf(request) }
}

/** @throws `forbidden`, `delegation_denied`, which is told before */
function refuse(by: Principal, scope: Scope | undefined, tell: (code: ErrorCode) => void): void {
  try {
    assertMayUse(by, scope)
  } catch (refusal) {
    if (isAgentprotoError(refusal)) tell(refusal.code)
    throw refusal
  }
}

/** How a caller that asked for it hears of what goes on. */
function progressOf({ _meta: meta, notify }: ServerContext['mcpReq']): Call['progress'] {
  const progressToken = meta?.progressToken
  if (progressToken === undefined) return undefined
  let progress = 0
  return function tellProgress(message) {
    progress += 1
    // Whoever is gone need not be told.
    notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(() => undefined)
  }
}
