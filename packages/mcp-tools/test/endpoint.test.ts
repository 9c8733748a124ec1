import { BOUNDS } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { TOKEN } from '../../gateway-http/test/fake-gateway.ts'
import { connected } from './connected.ts'

const ACCEPT = { accept: 'application/json, text/event-stream' }

test('without a token, from a foreign host or page, nothing is answered', async () => {
  const { app, call } = await connected()
  expect((await app.request('/mcp', { method: 'POST' })).status).toBe(401)
  expect((await call('POST', '/mcp', {}, { host: 'evil.example' })).status).toBe(403)
  expect((await call('POST', '/mcp', {}, { origin: 'https://evil.example' })).status).toBe(403)
})

test('bodies are JSON, whole and bounded', async () => {
  const { app, call } = await connected()
  const headers = { ...ACCEPT, authorization: `Bearer ${TOKEN}` }
  const post = (body: string, type: string): Promise<Response> =>
    Promise.resolve(app.request('/mcp', { method: 'POST', body, headers: { ...headers, 'content-type': type } }))
  expect((await post('{}', 'text/plain')).status).toBe(415)
  const broken = await post('{"jsonrpc"', 'application/json')
  expect([broken.status, await broken.json()]).toMatchObject([400, { error: { code: -32700 } }])
  expect((await post(`"${'x'.repeat(BOUNDS.bodyBytes)}"`, 'application/json')).status).toBe(413)
  expect((await call('GET', '/mcp')).status).toBe(405)
})

test('a message that is none, and a batch, give no 5xx', async () => {
  const { call } = await connected()
  for (const body of [
    null,
    1,
    'x',
    [],
    [[]],
    {},
    { params: { arguments: 'x' } },
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'nope', arguments: '{' } },
  ]) {
    const { status } = await call('POST', '/mcp', body, ACCEPT)
    expect([body, status < 500]).toEqual([body, true])
  }
})

test('an answer that is too deep is refused, not thrown at', async () => {
  const { tool } = await connected()
  await tool('start_agent_session', { adapter: 'demo', prompt: 'ask' })
  let content: Record<string, unknown> = {}
  for (let level = 0; level < 100; level++) content = { level: content }
  const refused = await tool('answer_agent_request', { sessionId: 's1', requestId: 'r1', action: 'accept', content })
  expect(refused).toMatchObject({ isError: true, code: 'invalid_request', field: 'content' })
})

test('a closed endpoint refuses, and closes twice', async () => {
  const { endpoint, call } = await connected()
  await endpoint.close()
  await endpoint.close()
  expect(await (await call('POST', '/mcp', {}, ACCEPT)).json()).toMatchObject({ status: 503, code: 'shutting_down' })
})
