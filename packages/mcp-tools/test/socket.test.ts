import { createAdaptorServer } from '@hono/node-server'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { TOKEN } from '../../gateway-http/test/fake-gateway.ts'
import { connected, ERAS } from './connected.ts'
import type { Connected, Era } from './connected.ts'

// Over a real socket requests and bodies are of another kind than in process, and a client can hang up.

async function overSocket(era: Era): Promise<Connected> {
  const gateway = await connected(era)
  const server = createAdaptorServer({ fetch: gateway.app.fetch, overrideGlobalObjects: false }) as Server
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const mode = era === 'legacy' ? 'legacy' : { pin: '2026-07-28' }
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), { requestInit }))
  onTestFinished(async () => {
    await client.close()
    server.closeAllConnections()
    server.close()
  })
  return { ...gateway, client }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

test.each(ERAS)('a %s client lists, starts, waits and reads', async (era) => {
  const { client, sessions } = await overSocket(era)
  expect((await client.listTools()).tools).toHaveLength(15)
  const call = async (name: string, args: Record<string, unknown>): Promise<unknown> =>
    (await client.callTool({ name, arguments: args })).structuredContent
  expect(await call('start_agent_session', { adapter: 'demo', prompt: 'one' })).toMatchObject({ id: 's1' })
  expect(await call('wait_agent_turn', { sessionId: 's1', turn: 1 })).toMatchObject({ state: 'ended' })
  expect(await call('get_agent_session_output', { sessionId: 's1' })).toMatchObject({ lines: [{ line: 'echo "one"' }] })
  expect(sessions.calls[0]?.[2]).toEqual({ type: 'owner', name: 'owner' })
})

test.each(ERAS)('a %s client that hangs up within a wait lets everything go', async (era) => {
  const { client, sessions, clock } = await overSocket(era)
  await client.callTool({ name: 'start_agent_session', arguments: { adapter: 'demo', prompt: 'hang' } })
  const waiting = client.callTool({ name: 'wait_agent_turn', arguments: { sessionId: 's1', turn: 1 } })
  const refused = waiting.catch((thrown: unknown) => thrown)
  await until(() => clock.pending === 1)
  await client.close()
  expect(await refused).toBeInstanceOf(Error)
  await until(() => clock.pending === 0)
  expect(sessions.log('s1').open).toBe(0)
  expect((await sessions.turns('s1')).at(-1)).toMatchObject({ state: 'running' })
})
