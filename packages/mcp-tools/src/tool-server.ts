import { AgentprotoError, isAgentprotoError, type Principal, traceOf } from '@agentproto/contracts'
import {
  assertMayUse,
  boundsOf,
  mayUse,
  type ToolDefinition,
  type ToolName,
  TOOLS,
  whileTokenIsValid,
} from '@agentproto/contracts/wire'
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool as ListedTool,
} from '@modelcontextprotocol/server'
import type { Call, McpDeps } from './services.js'
import { listedTool, parseArguments } from './tool.js'
import { toolHandlers } from './tools.js'

const INSTRUCTIONS =
  'Runs coding agents in sessions: start one, prompt it, wait for its turn, read its output; answer its requests. One turn at a time per session.'

type Request = ServerContext['mcpReq']

/** A tool with its handler. */
interface ServedTool {
  readonly definition: ToolDefinition & { readonly scope: (typeof TOOLS)[ToolName]['scope'] }
  readonly listed: ListedTool
  readonly handle: (args: never, call: Call) => Promise<object>
}

export interface ToolCaller {
  readonly by: Principal
  /** Aborts when its token ends. */
  readonly ended?: AbortSignal | undefined
}

/** Makes servers of the tools, one for each caller. */
export function toolServers(deps: McpDeps): (caller: ToolCaller) => Server {
  const tools = new Map<string, ServedTool>()
  for (const [name, handle] of Object.entries(toolHandlers(deps))) {
    const definition = TOOLS[name as ToolName]
    tools.set(name, { definition, listed: listedTool(definition, definition.scope === 'read'), handle })
  }
  return function serverFor({ by, ended }) {
    const server = new Server(
      { name: 'agentproto', version: deps.version },
      { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
    )
    // Tools that the caller may not use would only fill its context.
    const usable = [...tools.values()].filter(({ definition }) => mayUse(by, definition.scope))
    server.setRequestHandler('tools/list', () => ({ tools: usable.map(({ listed }) => listed) }))
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
      const tool = tools.get(params.name)
      if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool ${params.name}`)
      const asked = { by, ended, args: params.arguments, request: mcpReq }
      return resultOf(deps, () => whileTokenIsValid(ended, () => callTool(deps, tool, asked)))
    })
    return server
  }
}

/** The result of a call. An error is a result too, so that the model can read it and correct its call. */
async function resultOf({ onError }: McpDeps, work: () => Promise<object>): Promise<CallToolResult> {
  try {
    const structuredContent = { ...(await work()) }
    return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] }
  } catch (thrown) {
    if (!isAgentprotoError(thrown)) onError?.(thrown)
    const error = isAgentprotoError(thrown)
      ? thrown
      : new AgentprotoError('internal', 'The gateway failed to answer the call', { hint: 'See the log of the gateway' })
    return { isError: true, content: [{ type: 'text', text: JSON.stringify(error.toProblem()) }] }
  }
}

interface Asked extends ToolCaller {
  readonly args: unknown
  readonly request: Request
}

/** @throws `forbidden`, `delegation_denied`, `session_not_found` for a session that the caller may not use */
async function callTool(deps: McpDeps, tool: ServedTool, { by, ended, args, request }: Asked): Promise<object> {
  const { scope, name } = tool.definition
  try {
    assertMayUse(by, scope)
  } catch (refusal) {
    if (isAgentprotoError(refusal)) deps.onRefused?.({ code: refusal.code, by, tool: name })
    throw refusal
  }
  const given = parseArguments(tool.definition, tool.listed, args) as { readonly sessionId?: string }
  const within = boundsOf(by, scope)
  if (within !== undefined && given.sessionId !== undefined) await deps.sessions.get(given.sessionId, within)
  // The trace in the call is more precise than the one of its HTTP request.
  const { _meta: meta } = request
  const { traceparent, tracestate } = meta ?? {}
  const trace = traceOf({ traceparent, tracestate })
  const call = { by: trace === undefined ? by : { ...by, trace }, within }
  const signal = ended === undefined ? request.signal : AbortSignal.any([request.signal, ended])
  return tool.handle(given as never, { ...call, signal, progress: progressOf(request) })
}

/** How progress is reported to a caller that asked for it. */
function progressOf({ _meta: meta, notify }: Request): Call['progress'] {
  const progressToken = meta?.progressToken
  if (progressToken === undefined) return undefined
  let progress = 0
  return function reportProgress(message) {
    progress += 1
    // A caller that is gone needs no progress.
    notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(() => undefined)
  }
}
