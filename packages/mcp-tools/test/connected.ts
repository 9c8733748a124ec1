import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createMcpEndpoint } from '@agentproto/mcp-tools'
import type { McpEndpoint } from '@agentproto/mcp-tools'
import { expect, onTestFinished } from 'vitest'
import { fakeChanges } from '../../gateway-http/test/fake-changes.ts'
import { fakeAdapters, fakeGateway, fakeHosts, fakeWorkspaces, TOKEN } from '../../gateway-http/test/fake-gateway.ts'
import type { FakeGateway } from '../../gateway-http/test/fake-gateway.ts'

export type Era = 'legacy' | 'modern'
export const ERAS: readonly Era[] = ['legacy', 'modern']

export interface Connected extends FakeGateway {
  readonly endpoint: McpEndpoint
  readonly client: Client
  readonly errors: unknown[]
  /** Calls a tool; the result's structured content, or the problem it was refused with. */
  readonly tool: (
    name: string,
    args?: Record<string, unknown>,
    signal?: AbortSignal,
  ) => Promise<Record<string, unknown>>
}

/** A gateway over fakes with its MCP endpoint, and the official client connected to it through the HTTP app. */
export async function connected(era: Era = 'modern', more: Parameters<typeof fakeGateway>[0] = {}): Promise<Connected> {
  const errors: unknown[] = []
  const mounted: { endpoint?: McpEndpoint } = {}
  const gateway = fakeGateway({
    mcp: async (request, by) => (mounted.endpoint as McpEndpoint).fetch(request, by),
    ...more,
  })
  const { sessions, clock, app } = gateway
  const endpoint = createMcpEndpoint({
    sessions,
    clock,
    adapters: fakeAdapters,
    workspaces: fakeWorkspaces(),
    changes: fakeChanges(sessions),
    hosts: fakeHosts,
    version: '1.2.3',
    onError: (error) => errors.push(error),
  })
  mounted.endpoint = endpoint
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } } },
  )
  const transport = new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
    fetch: async (url, init) => app.request(String(url), init),
    requestInit: { headers: { authorization: `Bearer ${TOKEN}` } },
  })
  await client.connect(transport)
  onTestFinished(async () => {
    await client.close()
    await endpoint.close()
  })
  const tool: Connected['tool'] = async (name, args = {}, signal) => {
    const result = await client.callTool({ name, arguments: args }, signal === undefined ? {} : { signal })
    const [content] = result.content
    const said = JSON.parse(content?.type === 'text' ? content.text : 'null') as Record<string, unknown>
    if (result.isError) return { isError: true, ...said }
    expect(result.structuredContent).toEqual(said)
    return said
  }
  return { ...gateway, endpoint, client, errors, tool }
}
