import type { AcpEndpoint, AcpEndpointDeps } from '@agentproto/acp-server'
import type { AcpService } from '@agentproto/contracts/wire'
import type { McpDeps, McpEndpoint } from '@agentproto/mcp-tools'
import { version } from './version.js'

/** The MCP endpoint, loaded at its first request: most gateways never get one, and its SDK is a quarter of their memory. */
export function lazyMcp(deps: McpDeps): McpEndpoint {
  let endpoint: Promise<McpEndpoint> | undefined
  return {
    async fetch(request, by, ended) {
      endpoint ??= import('@agentproto/mcp-tools').then(({ createMcpEndpoint }) => createMcpEndpoint(deps))
      return (await endpoint).fetch(request, by, ended)
    },
    close: async () => (await endpoint)?.close(),
  }
}

/** ACP over the network, loaded at its first request, like MCP. */
export function lazyAcp(deps: AcpEndpointDeps): AcpService & Pick<AcpEndpoint, 'close'> {
  let endpoint: Promise<AcpEndpoint> | undefined
  const loaded = (): Promise<AcpEndpoint> =>
    (endpoint ??= import('@agentproto/acp-server').then(({ createAcpEndpoint }) => createAcpEndpoint(deps)))
  return {
    fetch: async (request, caller) => (await loaded()).fetch(request, caller),
    upgrade: async (caller) => (await loaded()).upgrade(caller),
    close: async () => (await endpoint)?.close(),
  }
}

/** The OpenAPI document, made at its first request: it needs all of zod. */
export function lazyOpenApi(): () => Promise<object> {
  let document: Promise<object> | undefined
  return () => (document ??= makeDocument())
}

async function makeDocument(): Promise<object> {
  const [{ openApiDocument }, { default: session }, { default: event }] = await Promise.all([
    import('@agentproto/gateway-http/openapi'),
    import('@agentproto/manifest/schemas/session.schema.json', { with: { type: 'json' } }),
    import('@agentproto/manifest/schemas/stream-event.schema.json', { with: { type: 'json' } }),
  ])
  return openApiDocument({ version, schemas: { session, event } })
}
