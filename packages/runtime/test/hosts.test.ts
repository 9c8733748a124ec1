import { mkdir, realpath } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@agentproto/client'
import { expect, test } from 'vitest'
import { admittedCaller, WIRES } from './fixtures/acp-caller.js'
import { servedGateway } from './fixtures/served-gateway.js'
import { temporaryHome } from './fixtures/temporary-home.js'

test('17.1 a gateway without a fleet lists itself as the only host, over HTTP and to the client', async () => {
  const { call, gateway, spawn } = await servedGateway()
  const before = (await call('GET /hosts')).body['hosts']
  expect(before).toMatchObject([
    { name: hostname(), self: true, reachable: true, labels: {}, liveSessions: 0, freeSessions: 64, lag: 0 },
  ])
  await spawn({})
  const { url } = await gateway.listen({ port: 0 })
  const [host, ...others] = await createClient({ url, token: gateway.token }).hosts()
  expect(others).toEqual([])
  expect(host).toMatchObject({ name: hostname(), liveSessions: 1, freeSessions: 63 })
  expect(host?.adapters).toContain('demo')
})

test('17.7 a token that is bound to workspaces sees only these names of the workspaces of a host', async () => {
  const { call } = await servedGateway()
  const root = await realpath(await temporaryHome())
  for (const slug of ['shop', 'bank']) {
    await mkdir(join(root, slug))
    await call('POST /workspaces', { path: join(root, slug), slug })
  }
  const workspaces = async (token?: string): Promise<unknown> =>
    ((await call('GET /hosts', undefined, token)).body['hosts'] as { workspaces: unknown }[])[0]?.workspaces
  expect(await workspaces()).toEqual(['shop', 'bank'])
  const { body } = await call('POST /tokens', { name: 'ci', scope: 'read', workspaces: ['shop'] })
  expect(await workspaces(String(body['token']))).toEqual(['shop'])
})

test('17.2 sessions are listed by their host, and a start names the host that is there', async () => {
  const { call, gateway, spawn } = await servedGateway()
  const { id } = await spawn({ on: hostname() })
  await spawn({ on: 'any' })
  expect((await gateway.sessions.list({ host: hostname() })).sessions).toHaveLength(2)
  expect((await call('GET /sessions?host=elsewhere')).body['sessions']).toEqual([])
  expect((await call(`GET /sessions/${id}`)).body['hostId']).toBe(hostname())
  for (const on of ['elsewhere', 'gpu=yes']) {
    const { status, body } = await call('POST /sessions/agent', { adapter: 'demo', on })
    expect([status, body['code']]).toEqual([404, 'host_not_found'])
  }
  expect((await gateway.sessions.list()).sessions).toHaveLength(2)
})

test.each(WIRES)(
  '17.2 over %s session/new names the host that is there, and is refused any other one with the document of HTTP',
  async (wire) => {
    const { call, gateway } = await servedGateway()
    const { url } = await gateway.listen({ port: 0 })
    const { ask } = await admittedCaller(wire, { url, headers: { authorization: `Bearer ${gateway.token}` } })
    const open = (on: unknown) =>
      ask('session/new', { cwd: gateway.home, mcpServers: [], _meta: { agentproto: { adapter: 'demo', on } } })
    for (const on of ['elsewhere', 'gpu=yes']) {
      const { body } = await call('POST /sessions/agent', { adapter: 'demo', cwd: gateway.home, on })
      expect((await open(on)).error?.data).toEqual(body)
      expect(body['code']).toBe('host_not_found')
    }
    for (const on of ['', 1]) expect((await open(on)).error?.data).toMatchObject({ code: 'invalid_request' })
    expect((await gateway.sessions.list()).sessions).toEqual([])
    for (const on of [hostname(), 'any']) expect((await open(on)).result).toHaveProperty('sessionId')
    expect((await gateway.sessions.list({ host: hostname() })).sessions).toHaveLength(2)
  },
)

test('17.6 what happens to a session whose host is lost is stored with it', async () => {
  const { gateway, call } = await servedGateway()
  const path = await realpath(await temporaryHome())
  await call('POST /workspaces', { path, slug: 'shop' })
  const start = (onHostLoss: string) =>
    call('POST /sessions/agent', { adapter: 'demo', workspaceSlug: 'shop', onHostLoss })
  const [moved, waits] = [await start('move'), await start('wait')]
  expect((await gateway.sessions.get(String(moved.body['id']))).onHostLoss).toBe('move')
  expect(await gateway.sessions.get(String(waits.body['id']))).not.toHaveProperty('onHostLoss')
  expect((await start('fly')).status).toBe(400)
})
