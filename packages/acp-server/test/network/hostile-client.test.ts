import { expect, test, vi } from 'vitest'
import type { Principal } from '@agentproto/contracts'
import { fakeService } from '../fake-service.ts'
import { FakeSessions } from '../fake-sessions.ts'
import { answered, networkClient, OWNER, socketStream, socketUrl, testEndpoint, token } from './network-client.ts'
import type { TestEndpoint } from './network-client.ts'

// Clients that do what no library of ACP would do.

const until = (condition: () => unknown): Promise<void> =>
  vi.waitFor(() => expect(condition()).toBeTruthy(), { timeout: 10_000 })

const HELLO = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: 1, clientCapabilities: {} },
}

const PERMISSION = {
  kind: 'permission',
  toolCall: { type: 'tool-call', toolCallId: 'c1', title: 'Write' },
  options: [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' }],
} as never

test('a connection is initialized once', async () => {
  const under = testEndpoint()
  const { agent } = await networkClient(socketStream(await socketUrl(under)), {
    _meta: { agentproto: { events: true } },
  })
  await expect(agent.request('initialize', { protocolVersion: 1 })).rejects.toMatchObject({ code: -32_600 })
  expect(await agent.request('session/list', {})).toEqual({ sessions: [] })
})

test('an agent that may drive its children is shown that it waits itself, and is not asked', async () => {
  const under = testEndpoint()
  under.sessions.add('own')
  under.sessions.the('own').asks('r1', PERMISSION)
  const by: Principal = { type: 'session', name: 'session own', sessionId: 'own', delegates: true }
  const { agent, asked, updates } = await networkClient(socketStream(await socketUrl(under, { by })))
  await agent.request('session/resume', { sessionId: 'own', cwd: '/work' })
  await until(() => JSON.stringify(updates).includes('The agent asks for a permission'))
  expect(asked).toEqual([])
})

test('cancels that come while one is being sent are the same one, until a prompt comes between', async () => {
  const sessions = new FakeSessions()
  const service = fakeService(sessions)
  const sent: (() => void)[] = []
  const under = testEndpoint({
    sessions: {
      ...service,
      interrupt: async (...call) => {
        await new Promise<void>((resolve) => sent.push(resolve))
        return service.interrupt(...call)
      },
    },
  })
  sessions.add('s1')
  const { agent } = await networkClient(socketStream(await socketUrl(under)))
  await agent.request('session/resume', { sessionId: 's1', cwd: '/work' })
  const cancels = async (): Promise<void> => {
    for (let times = 0; times < 100; times++) await agent.notify('session/cancel', { sessionId: 's1' })
    await agent.request('session/list', {})
  }
  await cancels()
  expect(sent).toHaveLength(1)
  const turn = agent.request('session/prompt', { sessionId: 's1', prompt: [{ type: 'text', text: 'one' }] })
  await cancels()
  sent[0]?.()
  await until(() => sent.length === 2)
  sent[1]?.()
  expect(await turn).toEqual({ stopReason: 'cancelled' })
  expect(sent).toHaveLength(2)
})

const oneStream = async (
  { endpoint }: TestEndpoint,
  { method = 'POST', by = OWNER, body }: { method?: string; by?: Principal; body?: object } = {},
): Promise<number> => {
  const headers = { 'acp-client-id': 'mine', 'content-type': 'application/json' }
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const { status } = await answered(endpoint, new Request('http://localhost/acp', init), { by })
  return status
}

test('an id that its client has deleted is free at once, and the end of the first does not end the second', async () => {
  const under = testEndpoint()
  expect(await oneStream(under, { body: HELLO })).toBe(202)
  expect(await oneStream(under, { method: 'DELETE' })).toBe(202)
  expect(await oneStream(under, { body: HELLO })).toBe(202)
  await new Promise((resolve) => setImmediate(resolve))
  const list = { jsonrpc: '2.0', id: 2, method: 'session/list', params: {} }
  expect(await oneStream(under, { body: list })).toBe(202)
})

test('when a token ends, a new token of the same name finds nothing of it', async () => {
  const under = testEndpoint()
  const ending = new AbortController()
  const by = token('ci')
  const headers = { 'acp-client-id': 'mine', 'content-type': 'application/json' }
  const request = new Request('http://localhost/acp', { method: 'POST', headers, body: JSON.stringify(HELLO) })
  expect((await answered(under.endpoint, request, { by, ended: ending.signal })).status).toBe(202)
  ending.abort()
  const list = { jsonrpc: '2.0', id: 2, method: 'session/list', params: {} }
  expect(await oneStream(under, { by, body: list })).toBe(404)
})

test.each([
  ['without a version', { id: {}, method: 'session/list' }],
  ['of another version', { jsonrpc: '1.0', id: 1, method: 'session/list' }],
  ['with an id that is an object', { jsonrpc: '2.0', id: { a: 1 }, method: 'session/list' }],
  ['with parameters that are no object', { jsonrpc: '2.0', id: 3, method: 'session/list', params: 7 }],
  ['that are nothing', {}],
  ['that answer nothing', { jsonrpc: '2.0', id: 5, result: {} }],
  ['that are notifications nobody knows', { jsonrpc: '2.0', method: 'nothing' }],
  ['that cancel what is not there', { jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 5 } }],
  ['that cancel without saying what', { jsonrpc: '2.0', method: '$/cancel_request', params: 1 }],
  ['that cancel a session without saying which', { jsonrpc: '2.0', method: 'session/cancel', params: [] }],
])('many messages %s print nothing, and the next request is answered', async (_, message) => {
  const under = testEndpoint()
  const stream = socketStream(await socketUrl(under))
  const writer = stream.writable.getWriter()
  await writer.write(HELLO as never)
  for (let sent = 0; sent < 2_000; sent++) await writer.write(message as never)
  await writer.write({ jsonrpc: '2.0', id: 'last', method: 'session/list', params: {} } as never)
  const reader = stream.readable.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) throw new Error('the connection ended')
    if ('id' in value && value.id === 'last') break
  }
  expect(under.printed).toEqual([])
  expect(under.problems.length).toBeLessThanOrEqual(10)
  await writer.close()
})
