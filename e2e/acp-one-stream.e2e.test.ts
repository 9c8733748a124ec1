import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { overOneStream } from './support/acp-one-stream.js'
import { startGateway } from './support/gateway.js'
import { startRelay } from './support/tcp-relay.js'

// The package acp-http-client of others, as it is: one event stream for all of a connection that the client names itself.

const until = (condition: () => unknown): Promise<void> =>
  vi.waitFor(async () => expect(await condition()).toBeTruthy(), { timeout: 30_000, interval: 20 })

const chunks = (count: number): string => Array.from({ length: count }, (_, at) => `chunk ${at + 1}\n`).join('')

test('acp-http-client: two turns, a permission, a cancel, modes and lists', async () => {
  const gateway = await startGateway()
  const { cwd } = gateway
  const user = await overOneStream(gateway, { answer: 'allow_once' })
  const { sessionId } = await user.client.newSession({ cwd, mcpServers: [] })
  expect(await user.prompt(sessionId, 'hello')).toEqual({ stopReason: 'end_turn' })
  expect(await user.prompt(sessionId, 'ask a.txt yes')).toEqual({ stopReason: 'end_turn' })
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('yes\n')
  expect(user.permissions).toHaveLength(1)
  const hanging = user.prompt(sessionId, 'stream 1; hang')
  await until(() => user.said().includes('chunk 1'))
  await user.client.cancel({ sessionId })
  expect(await hanging).toEqual({ stopReason: 'cancelled' })
  expect(await user.prompt(sessionId, 'recall')).toEqual({ stopReason: 'end_turn' })
  expect(user.said()).toContain('1: hello')
  await user.client.setSessionMode({ sessionId, modeId: 'plan' })
  expect((await gateway.client.sessions.get(sessionId)).config?.modeId).toBe('plan')
  expect((await user.client.listSessions({})).sessions).toMatchObject([{ sessionId, title: 'hello' }])
  await expect(user.prompt('unknown', 'hello')).rejects.toMatchObject({ code: -32002 })
})

test('F1 acp-http-client is cut in mid-turn: its next call opens the stream again, and nothing is missing', async () => {
  const gateway = await startGateway()
  const relay = await startRelay(gateway.url)
  const place = { ...gateway, url: relay.url }
  const user = await overOneStream(place)
  const { sessionId } = await user.client.newSession({ cwd: gateway.cwd, mcpServers: [] })
  const turn = user.prompt(sessionId, 'stream 300 5; ask a.txt late')
  for (const seen of ['chunk 20\n', 'chunk 100\n', 'chunk 200\n']) {
    await until(() => user.said().includes(seen))
    const { length } = user.said()
    relay.cut('GET')
    // It opens its stream again with what it posts, once it has noticed that it is gone.
    await until(() => {
      void user.client.listSessions({})
      return user.said().length > length
    })
  }
  await until(() => user.permissions.length === 1)
  expect(user.said()).toBe(chunks(300))
  // Another connection is asked the same, and sees the whole history.
  const other = await overOneStream(place, { answer: 'allow_once' })
  await other.client.loadSession({ sessionId, cwd: gateway.cwd, mcpServers: [] })
  expect(await turn).toEqual({ stopReason: 'end_turn' })
  expect(other.said().startsWith(chunks(300))).toBe(true)
  expect(readFileSync(join(gateway.cwd, 'a.txt'), 'utf8')).toBe('late\n')
})

test('the id of a connection is its caller’s: with another token or at another path it is another connection', async () => {
  const gateway = await startGateway()
  const { url, cwd, client } = gateway
  const id = 'one-id'
  const owner = await overOneStream(gateway, { id })
  const { sessionId } = await owner.client.newSession({ cwd, mcpServers: [] })
  const { token } = await client.tokens.create({ name: 'other', scope: 'operate' })
  const call = (path: string, { bearer = token, method = 'GET', headers = {}, body = '' } = {}): Promise<Response> =>
    fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${bearer}`,
        'acp-client-id': id,
        'content-type': 'application/json',
        ...headers,
      },
      ...(method === 'POST' ? { body } : {}),
    })
  const prompt = JSON.stringify({
    jsonrpc: '2.0',
    id: 99,
    method: 'session/prompt',
    params: { sessionId, prompt: [{ type: 'text', text: 'stolen' }] },
  })
  expect((await call('/acp/demo', { method: 'POST', body: prompt })).status).toBe(404)
  expect((await call('/acp', { method: 'POST', body: prompt, bearer: gateway.token })).status).toBe(404)
  expect((await call('/acp/demo', { method: 'DELETE' })).status).toBe(404)
  expect((await call('/acp/demo', { headers: { 'last-event-id': '1' } })).status).toBe(404)
  expect((await call('/acp/demo', { headers: { 'acp-client-id': 'a b' } })).status).toBe(400)
  expect(await owner.prompt(sessionId, 'mine')).toEqual({ stopReason: 'end_turn' })
  expect(owner.said()).toBe('echo: mine')
  // The owner's connection ends by its own hand, and its session stays.
  expect((await call('/acp/demo', { method: 'DELETE', bearer: gateway.token })).status).toBe(202)
  expect((await client.sessions.get(sessionId)).status).toBe('running')
})
