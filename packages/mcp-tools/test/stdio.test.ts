import { Client, deserializeMessage, serializeMessage } from '@modelcontextprotocol/client'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { serveMcpStdio } from '@agentproto/mcp-tools'
import type { McpStdio } from '@agentproto/mcp-tools'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { fakeAdapters, fakeWorkspaces, OWNER } from '../../gateway-http/test/fake-gateway.ts'
import { FakeSessions } from '../../gateway-http/test/fake-sessions.ts'
import { ERAS } from './connected.ts'
import type { Era } from './connected.ts'

interface Piped {
  readonly client: Client
  readonly sessions: FakeSessions
  readonly server: McpStdio
  readonly input: PassThrough
}

/** The official client and the tools at both ends of two pipes. */
async function piped(era: Era): Promise<Piped> {
  const [input, output, sessions] = [new PassThrough(), new PassThrough(), new FakeSessions()]
  const deps = { sessions, adapters: fakeAdapters, workspaces: fakeWorkspaces(), version: '1.2.3' }
  const server = serveMcpStdio(deps, { by: OWNER, input, output })
  const mode = era === 'legacy' ? 'legacy' : { pin: '2026-07-28' }
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(transportOver(output, input))
  onTestFinished(async () => {
    await client.close()
    await server.close()
  })
  return { client, sessions, server, input }
}

function transportOver(from: PassThrough, to: PassThrough): Transport {
  const transport: Transport = {
    async start() {
      createInterface(from).on('line', (line) => transport.onmessage?.(deserializeMessage(line)))
    },
    async send(message: JSONRPCMessage) {
      to.write(serializeMessage(message))
    },
    async close() {
      to.end()
      transport.onclose?.()
    },
  }
  return transport
}

test.each(ERAS)('a %s client has the same tools over pipes', async (era) => {
  const { client, sessions } = await piped(era)
  const { tools } = await client.listTools()
  expect(tools).toHaveLength(15)
  const started = await client.callTool({ name: 'start_agent_session', arguments: { adapter: 'demo', prompt: 'one' } })
  expect(started.structuredContent).toMatchObject({ id: 's1', status: 'running' })
  expect(sessions.calls[0]).toEqual(['spawn', { adapter: 'demo', prompt: 'one' }, OWNER])
  const refused = await client.callTool({ name: 'get_agent_session', arguments: { sessionId: 'unknown' } })
  expect(refused).toMatchObject({ isError: true })
  await expect(client.callTool({ name: 'nope', arguments: {} })).rejects.toMatchObject({ code: -32602 })
})

test.each(ERAS)('a %s client that goes away ends the server, and what waits for it', async (era) => {
  const { client, sessions, server, input } = await piped(era)
  await client.callTool({ name: 'start_agent_session', arguments: { adapter: 'demo', prompt: 'hang' } })
  const waiting = client.callTool({ name: 'wait_agent_turn', arguments: { sessionId: 's1' } }).catch(() => 'gone')
  while (sessions.log('s1').open === 0) await new Promise((resolve) => setImmediate(resolve))
  input.end()
  await server.closed
  await server.close()
  while (sessions.log('s1').open > 0) await new Promise((resolve) => setImmediate(resolve))
  expect((await sessions.turns('s1')).at(-1)).toMatchObject({ state: 'running' })
  await client.close()
  expect(await waiting).toBe('gone')
})
