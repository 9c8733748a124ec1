import { createMcpEndpoint } from '@agentproto/mcp-tools'
import { expect, test } from 'vitest'
import { fakeAdapters, fakeWorkspaces } from '../../gateway-http/test/fake-gateway.ts'
import { FakeSessions } from '../../gateway-http/test/fake-sessions.ts'

test('the example of the README lists the tools', async () => {
  const [sessions, adapters, workspaces] = [new FakeSessions(), fakeAdapters, fakeWorkspaces()]
  const endpoint = createMcpEndpoint({ sessions, adapters, workspaces, version: '0.1.0' })
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
  const response = await endpoint.fetch(request, { type: 'owner', name: 'me' })
  expect(await response.text()).toContain('start_agent_session')
  await endpoint.close()
})
