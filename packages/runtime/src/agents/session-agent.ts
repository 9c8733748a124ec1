import { type RunningAgent, type StartAgent, type StartAgentOptions, traceIdOf } from '@agentproto/contracts'
import { launchAgent } from '@agentproto/driver-agent-cli'
import type { ProvisionHost } from '@agentproto/provisioning'
import type { ManifestCatalog } from './adapter-catalog.js'
import type { GatewayLog } from '../telemetry/gateway-log.js'
import type { GatewayOptions } from '../gateway-options.js'
import { gatewayTools } from './gateway-tools.js'
import type { SessionTokens } from '../access/session-tokens.js'

export interface SessionAgentParts {
  readonly catalog: ManifestCatalog
  readonly host: ProvisionHost
  readonly tokens: SessionTokens
  readonly log: Pick<GatewayLog, 'write'>
  /** What the host does for agents that ask it to. */
  readonly serve: NonNullable<GatewayOptions['serve']>
}

/** Starts agents, each with a token of its own by which the gateway knows it, and with its tools where it delegates. */
export function sessionAgents({ catalog, host, tokens, serve, log }: SessionAgentParts): StartAgent {
  return async function startSessionAgent(start, sink) {
    const { sessionId, adapterSlug: adapter, trace } = start
    if (trace) log.write('info', 'agent starts', { sessionId, adapter, traceId: traceIdOf(trace) })
    const found = await catalog.adapter(adapter)
    const given = withToken(start, { host, tokens })
    const launch = (options: StartAgentOptions): Promise<RunningAgent> =>
      launchAgent(found.manifest, { ...options, sink, host, sandbox: found.sandbox, adapter: found, serve })
    try {
      return await launch(given)
    } catch (thrown) {
      tokens.revoke(start.sessionId)
      throw thrown
    }
  }
}

/** Without an address there is nobody to show a token to. */
function withToken(
  start: StartAgentOptions,
  { host, tokens }: Pick<SessionAgentParts, 'host' | 'tokens'>,
): StartAgentOptions {
  const url = host.url?.()
  if (url === undefined) return start
  const { sessionId, delegates = false } = start
  const token = tokens.mint(sessionId, delegates)
  const env = { ...start.env, AGENTPROTO_TOKEN: token }
  if (!delegates) return { ...start, env }
  const tools = gatewayTools({ sessionId, url, token, bin: host.bin })
  return { ...start, env, mcpServers: [...start.mcpServers, tools] }
}
