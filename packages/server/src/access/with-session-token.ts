import { traceIdOf } from '@agentproto/contracts'
import type { AdoptAgent, StartAgent, StartAgentOptions } from '@agentproto/contracts/agent'
import type { GatewayLog } from '../telemetry/gateway-log.js'
import { gatewayTools } from './gateway-tools.js'
import type { SessionTokens } from './session-tokens.js'

export interface SessionTokenOptions {
  readonly tokens: SessionTokens
  /** Where the gateway is reached; undefined while it does not listen. */
  readonly url: () => string | undefined
  /** Absolute path of `agentproto`; undefined for a gateway without a command line. */
  readonly bin: string | undefined
  readonly log: Pick<GatewayLog, 'write'>
}

/** Starts agents, each with a token of its own, and with the gateway's tools if its session may delegate. */
export function withSessionToken(startAgent: StartAgent, options: SessionTokenOptions): StartAgent {
  const { tokens, log } = options
  return async function startWithToken(start, sink) {
    const { sessionId, adapterSlug: adapter, trace } = start
    if (trace) log.write('info', 'agent starts', { sessionId, adapter, traceId: traceIdOf(trace) })
    try {
      return await startAgent(withToken(start, options), sink)
    } catch (error) {
      tokens.revoke(sessionId)
      throw error
    }
  }
}

/** Goes on with agents of an earlier gateway, whose tokens are valid again. */
export function withKeptToken(adoptAgent: AdoptAgent, tokens: SessionTokens): AdoptAgent {
  return async function adoptWithToken(options, sink) {
    const agent = await adoptAgent(options, sink)
    if (agent !== undefined) tokens.restore(options.sessionId)
    return agent
  }
}

/** A gateway that does not listen gives no token: there is nothing to call with it. */
function withToken(start: StartAgentOptions, { tokens, url, bin }: SessionTokenOptions): StartAgentOptions {
  const address = url()
  if (address === undefined) return start
  const { sessionId, delegates = false } = start
  const token = tokens.mint(sessionId, delegates)
  const env = { ...start.env, AGENTPROTO_TOKEN: token }
  if (!delegates) return { ...start, env }
  const tools = gatewayTools({ sessionId, url: address, token, bin })
  return { ...start, env, mcpServers: [...start.mcpServers, tools] }
}
