import { join } from 'node:path'
import { createClient } from '@agentproto/client'
import type { Principal } from '@agentproto/contracts'
import { createFleetKey } from '@agentproto/fleet'
import type { Gateway, GatewayOptions } from '@agentproto/runtime'
import { expect, test } from 'vitest'
import { type NatsServer, startNats } from '../../fleet/test/support/nats-servers.ts'
import { storedLogs } from '../../fleet/test/support/stored-logs.ts'
import { needs } from '../../../tooling/needs.ts'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

const owner: Principal = { type: 'owner', name: 'owner' }
const patient = { timeout: 20_000 }

interface World {
  readonly nats: NatsServer
  /** A gateway of the fleet, which sees the others that were started. */
  readonly start: (host: string, options?: Partial<GatewayOptions>) => Promise<Gateway>
}

async function world(): Promise<World> {
  const [nats, folder] = await Promise.all([startNats(), temporaryHome()])
  const key = join(folder, 'fleet.key')
  await createFleetKey(key)
  const start: World['start'] = async (host, options = {}) =>
    testGateway({
      home: await temporaryHome(),
      ...options,
      cluster: { servers: [nats.url], key, host, leaseMs: 3_000, ...options.cluster },
    })
  return { nats, start }
}

/** Waits until a gateway sees these hosts. */
const sees = (gateway: Gateway, ...hosts: readonly string[]): Promise<void> =>
  expect.poll(async () => names(gateway), patient).toEqual(hosts)

const names = async ({ hosts }: Gateway): Promise<readonly string[]> =>
  (await hosts.list()).filter(({ reachable }) => reachable).map(({ name }) => name)

test(
  '17.2 a session of one host is listed, prompted, read and ended through another',
  needs('nats-server'),
  async () => {
    const { start } = await world()
    const a = await start('a')
    const b = await start('b')
    await sees(b, 'a', 'b')
    await sees(a, 'a', 'b')
    const { id } = await a.sessions.spawn({ adapter: 'demo', cwd: a.home, label: 'far' }, owner)
    await expect
      .poll(async () => (await b.sessions.list({ host: 'a' })).sessions.map((each) => each.id), patient)
      .toEqual([id])

    const { url } = await b.listen({ port: 0 })
    const client = createClient({ url, token: b.token })
    expect(await client.sessions.get(id)).toMatchObject({ id, hostId: 'a', label: 'far', state: 'idle' })
    const { turn } = await client.sessions.prompt(id, { prompt: 'hello' })
    const result = await client.sessions.waitTurn(id, turn)
    expect(result).toMatchObject({ reason: 'end_turn' })
    expect(await b.sessions.waitTurn(id, turn)).toEqual(await a.sessions.waitTurn(id, turn))
    const asked = await client.sessions.prompt(id, { prompt: 'ask a.txt x' })
    await expect
      .poll(async () => (await client.sessions.requests(id)).map(({ state }) => state), patient)
      .toEqual(['pending'])
    const [request] = await client.sessions.requests(id)
    await client.sessions.answer(id, request?.requestId ?? '', { optionId: 'yes' }).catch(async () => {
      const options = request?.request.kind === 'permission' ? request.request.options : []
      await client.sessions.answer(id, request?.requestId ?? '', { optionId: options[0]?.optionId ?? '' })
    })
    await client.sessions.waitTurn(id, asked.turn)
    expect(await client.sessions.kill(id)).toMatchObject({ ok: true })
    const types: string[] = []
    for await (const { type } of client.sessions.events(id, { onGap: () => undefined })) types.push(type)
    expect(types.at(-1)).toBe('session-stopped')
    expect((await a.sessions.get(id)).status).toBe('killed')
    expect((await a.sessions.events(id, 0, 10_000)).records).toEqual((await b.sessions.events(id, 0, 10_000)).records)
  },
)

test('17.1 hosts are listed with what they have, and one that is lost is shown so', needs('nats-server'), async () => {
  const { start } = await world()
  const a = await start('a', { cluster: { labels: { gpu: 'yes' } } })
  const b = await start('b')
  await sees(b, 'a', 'b')
  await a.sessions.spawn({ adapter: 'demo', cwd: a.home }, owner)
  await expect.poll(async () => (await b.hosts.list())[0]?.liveSessions, patient).toBe(1)
  expect(await b.hosts.list()).toMatchObject([
    { name: 'a', reachable: true, labels: { gpu: 'yes' }, freeSessions: 63 },
    { name: 'b', self: true, reachable: true, labels: {}, freeSessions: 64 },
  ])
  expect((await b.hosts.list())[0]).not.toHaveProperty('self')
  await a.close()
  await expect.poll(() => names(b), patient).toEqual(['b'])
  expect(await b.hosts.list()).toMatchObject([{ name: 'a', reachable: false, stopped: true }, { name: 'b' }])
  expect((await b.hosts.list())[1]).not.toHaveProperty('stopped')
})

test(
  '17.5 a session is started on the host that is named, and its children stay there',
  needs('nats-server'),
  async () => {
    const { start } = await world()
    await start('a', { cluster: { labels: { gpu: 'yes' } } })
    const b = await start('b')
    await sees(b, 'a', 'b')
    const spawn = (on?: string) => b.sessions.spawn({ adapter: 'demo', ...(on !== undefined && { on }) }, owner)
    expect((await spawn()).hostId).toBe('b')
    expect((await spawn('a')).hostId).toBe('a')
    expect((await spawn('gpu=yes')).hostId).toBe('a')
    expect(['a', 'b']).toContain((await spawn('any')).hostId)
    await expect(spawn('c')).rejects.toMatchObject({ code: 'host_not_found' })
    await expect(spawn('gpu=no')).rejects.toMatchObject({
      code: 'placement_refused',
      parts: { data: { hosts: { a: ['the label gpu=no'], b: ['the label gpu=no'] } } },
    })
    const agent: Principal = { type: 'session', name: 'session x', sessionId: 'x', delegates: true }
    await expect(b.sessions.spawn({ adapter: 'demo', on: 'a' }, agent)).rejects.toMatchObject({
      code: 'placement_refused',
    })
  },
)

test(
  '17.3 a gateway that cannot reach NATS at its start is alone, and joins when it can',
  needs('nats-server'),
  async () => {
    const { nats, start } = await world()
    await nats.kill()
    const problems: string[] = []
    const a = await start('a', { onProblem: (problem) => problems.push(problem) })
    expect(problems.join()).toContain('alone')
    const { id } = await a.sessions.spawn({ adapter: 'demo', cwd: a.home, prompt: 'hello' }, owner)
    await a.sessions.waitTurn(id, 1)
    expect(await names(a)).toEqual(['a'])
    // It may be a session of a host that cannot be asked now.
    await expect(a.sessions.get('s_ofanother')).rejects.toMatchObject({
      code: 'host_unreachable',
      parts: { data: { retryAfter: expect.any(Number) } },
    })
    await nats.start()
    const b = await start('b')
    await sees(b, 'a', 'b')
    await expect.poll(async () => (await b.sessions.list()).sessions.map((each) => each.id), patient).toEqual([id])
    expect(await b.sessions.waitTurn(id, 1)).toEqual(await a.sessions.waitTurn(id, 1))
    await sees(a, 'a', 'b')
    await expect(a.sessions.get('s_ofanother')).rejects.toMatchObject({ code: 'session_not_found' })
  },
)

test(
  '17.7 a gateway with another key has no part in the fleet, and one with a name that is taken does not start',
  needs('nats-server'),
  async () => {
    const { start } = await world()
    const a = await start('a')
    const { id } = await a.sessions.spawn({ adapter: 'demo', cwd: a.home }, owner)
    const other = join(await temporaryHome(), 'fleet.key')
    await createFleetKey(other)
    const b = await start('b', { cluster: { key: other } })
    const c = await start('c')
    await sees(c, 'a', 'c')
    expect(await names(a)).toEqual(['a', 'c'])
    expect(await names(b)).toEqual(['b'])
    await expect.poll(async () => (await c.sessions.list()).sessions.map((each) => each.id), patient).toEqual([id])
    expect((await b.sessions.list()).sessions).toEqual([])
    await expect(b.sessions.prompt(id, { prompt: 'hello' }, owner)).rejects.toMatchObject({ code: 'session_not_found' })
    expect((await a.sessions.get(id)).turnCount).toBe(0)
    await expect(start('a')).rejects.toMatchObject({ code: 'host_name_in_use' })
  },
)

test(
  '17.4 the log of a session of a host that is gone is read from another, and it is unreachable',
  needs('nats-server'),
  async () => {
    const { start } = await world()
    const a = await start('a')
    const b = await start('b')
    await sees(b, 'a', 'b')
    const { id } = await a.sessions.spawn({ adapter: 'demo', cwd: a.home, prompt: 'hello' }, owner)
    await a.sessions.waitTurn(id, 1)
    await a.close()
    await expect.poll(async () => (await b.sessions.get(id)).state, patient).toBe('unreachable')
    const { records } = await b.sessions.events(id, 0, 1_000)
    expect(records.at(-1)?.type).toBe('session-stopped')
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, at) => at + 1))
    await expect(b.sessions.prompt(id, { prompt: 'again' }, owner)).rejects.toMatchObject({
      code: 'host_unreachable',
      parts: { data: { retryAfter: expect.any(Number) as number } },
    })
  },
)

test('17.8 metrics have the figures of the fleet, and sessions of this host alone', needs('nats-server'), async () => {
  const { start } = await world()
  const a = await start('a')
  const b = await start('b')
  await sees(b, 'a', 'b')
  const { id } = await a.sessions.spawn({ adapter: 'demo', cwd: a.home }, owner)
  await expect.poll(async () => (await b.sessions.list()).sessions.length, patient).toBe(1)
  await b.sessions.turns(id)
  const { url } = await b.listen({ port: 0 })
  const metrics = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${b.token}` } })).text()
  expect(metrics).toMatch(/^agentproto_fleet_joined 1$/m)
  expect(metrics).toMatch(/^agentproto_fleet_hosts\{state="reachable"\} 2$/m)
  expect(metrics).toMatch(/^agentproto_fleet_lag_events 0$/m)
  expect(metrics).toMatch(/^agentproto_fleet_forwarded_calls_total [1-9]/m)
  expect(metrics).toMatch(/^agentproto_fleet_fenced_sessions_total 0$/m)
  expect(metrics).toMatch(/^agentproto_fleet_refused_guards_total 0$/m)
  expect(metrics).toMatch(/^agentproto_sessions\{status="running"\} 0$/m)
})

test(
  '17.4 a session that is deleted while it works leaves nothing in the fleet, and no warning',
  needs('nats-server'),
  async () => {
    const { nats, start } = await world()
    const problems: string[] = []
    const a = await start('a', { onProblem: (problem) => problems.push(problem) })
    const b = await start('b')
    await sees(b, 'a', 'b')
    const request = { adapter: 'demo', cwd: a.home, prompt: 'stream 400 100' } as const
    const ids = await Promise.all(Array.from({ length: 4 }, async () => (await a.sessions.spawn(request, owner)).id))
    await expect.poll(async () => (await b.sessions.list()).sessions.length, patient).toBe(4)
    await Promise.all(ids.map((id, at) => (at % 2 === 0 ? a : b).sessions.forget(id, owner)))
    await expect.poll(async () => (await b.sessions.list()).sessions, patient).toEqual([])
    await a.close()
    expect(await storedLogs(nats)).toBe(0)
    expect(problems).toEqual([])
  },
)

test(
  '17.6 a session that may be moved goes on at another host when its own is lost, which then gives it up',
  needs('nats-server'),
  async () => {
    const { start } = await world()
    const homes = [await temporaryHome(), await temporaryHome()] as const
    const [shopOfA, shopOfB] = [await temporaryHome(), await temporaryHome()]
    const cluster = { leaseMs: 1_000 }
    const problems: string[] = []
    const a = await start('a', { home: homes[0], cluster })
    const b = await start('b', { home: homes[1], cluster, onProblem: (problem) => problems.push(problem) })
    await a.workspaces.add({ path: shopOfA, slug: 'shop' })
    await b.workspaces.add({ path: shopOfB, slug: 'shop' })
    await sees(b, 'a', 'b')
    const spawn = { adapter: 'demo', workspaceSlug: 'shop', prompt: 'remember me' } as const
    const moving = await a.sessions.spawn({ ...spawn, onHostLoss: 'move' }, owner)
    const waiting = await a.sessions.spawn(spawn, owner)
    for (const { id } of [moving, waiting]) await a.sessions.waitTurn(id, 1)
    const before = (await a.sessions.events(moving.id, 0, 1_000)).records
    await a.close()
    await expect.poll(async () => (await b.sessions.get(moving.id)).hostId, { timeout: 30_000 }).toBe('b')
    await expect.poll(async () => (await b.sessions.get(moving.id)).movedFrom, patient).toBe('a')
    // Until it is whole here it cannot be prompted, and says so.
    await expect.poll(async () => (await b.sessions.get(moving.id)).state, patient).toBe('asleep')
    expect((await b.sessions.get(waiting.id)).state).toBe('unreachable')
    const { turn } = await b.sessions.prompt(moving.id, { prompt: 'hello' }, owner)
    expect(await b.sessions.waitTurn(moving.id, turn)).toMatchObject({ reason: 'end_turn' })
    expect(await b.sessions.get(moving.id)).toMatchObject({ resumedHow: 'transcript', cwd: shopOfB, movedFrom: 'a' })
    const after = (await b.sessions.events(moving.id, 0, 1_000)).records
    expect(after.slice(0, before.length)).toEqual(before)
    expect(after.map(({ seq }) => seq)).toEqual(after.map((_, at) => at + 1))

    const again = await start('a', { home: homes[0], cluster })
    await sees(again, 'a', 'b')
    await expect.poll(async () => (await again.sessions.get(moving.id)).hostId, patient).toBe('b')
    expect(await again.sessions.prompt(moving.id, { prompt: 'and again' }, owner)).toEqual({ turn: turn + 1 })
    expect(await again.sessions.prompt(waiting.id, { prompt: 'still here' }, owner)).toEqual({ turn: 2 })
    expect((await again.sessions.get(waiting.id)).hostId).toBe('a')
  },
)
