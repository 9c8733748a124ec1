import { isAbsolute } from 'node:path'
import { agent, PROTOCOL_VERSION, RequestError, type AgentApp, type InitializeResponse } from '@agentclientprotocol/sdk'
import * as z from 'zod'
import type { Conversations } from './conversations.js'

/** What the agent says of itself. */
export interface AgentFacts {
  readonly version: string
  /** Whether it reaches MCP servers over HTTP. */
  readonly mcpHttp: boolean
}

/** The ACP surface: which method does what. */
export function createAgentApp(conversations: Conversations, about: AgentFacts): AgentApp {
  return (
    agent({ name: 'agentproto-demo-agent' })
      .onRequest('initialize', ({ params }) => {
        conversations.clientCapabilities = params.clientCapabilities ?? {}
        return initializeResponse(about)
      })
      .onRequest('session/new', ({ params }) => conversations.create(withAbsoluteCwd(params)))
      .onRequest('session/load', ({ params }) => conversations.load(withAbsoluteCwd(params)))
      .onRequest('session/resume', ({ params }) => conversations.resume(withAbsoluteCwd(params)))
      // Not in the stable schema yet, so it says itself what its parameters are.
      .onRequest('session/fork', forkParams, ({ params }) => conversations.fork(withAbsoluteCwd(params)))
      .onRequest('session/list', ({ params }) => ({ sessions: conversations.list(params.cwd ?? undefined) }))
      .onRequest('session/close', ({ params }) => conversations.close(params.sessionId))
      .onRequest('session/set_mode', ({ params }) => conversations.setMode(params.sessionId, params.modeId))
      .onRequest('session/set_config_option', ({ params }) => conversations.setOption(params))
      .onRequest('session/prompt', ({ params, client }) => conversations.prompt(params, client))
      .onNotification('session/cancel', ({ params }) => conversations.cancel(params.sessionId))
  )
}

const SESSION_CAPABILITIES = { list: {}, resume: {}, close: {}, fork: {}, additionalDirectories: {} }

function initializeResponse({ version, mcpHttp }: AgentFacts): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: 'agentproto-demo-agent', title: 'Demo agent', version },
    authMethods: [],
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { embeddedContext: true },
      mcpCapabilities: { http: mcpHttp },
      sessionCapabilities: SESSION_CAPABILITIES,
    },
  }
}

const forkParams = z.object({
  sessionId: z.string(),
  cwd: z.string(),
  mcpServers: z.array(z.never()).catch([]),
  additionalDirectories: z.array(z.string()).exactOptional(),
})

function withAbsoluteCwd<Params extends { cwd: string }>(params: Params): Params {
  if (!isAbsolute(params.cwd)) throw RequestError.invalidParams({ cwd: params.cwd }, 'cwd must be absolute')
  return params
}
