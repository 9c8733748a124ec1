import { AgentprotoError, defined, type Principal, systemClock } from '@agentproto/contracts'
import type { EventBatch } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { ManualClock } from '../../session-registry/test/fixtures/manual-clock.ts'
import { scripted, type Script } from '../../session-registry/test/fixtures/scripted-agent.ts'
import { memoryRegistry, owner as OWNER } from '../../session-registry/test/fixtures/test-registry.ts'
import type { SharedServices } from '../src/calls/places.ts'
import { startNats } from './support/nats-servers.ts'
import { servicesOf, startHost, twoHosts } from './support/two-hosts.ts'

/** A turn that lasts until it is cancelled, or the test ends it. */
function held(): { script: Script; end: () => void } {
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => (end = resolve))
  const script: Script = async ({ emit, cancelled }) => {
    await emit({ type: 'text-delta', text: 'working' })
    await Promise.race([ended, cancelled])
    await emit({ type: 'turn-end', reason: 'end_turn' })
  }
  return { script, end: () => end() }
}

test('17.2 a host starts, prompts and reads a session of another host', needs('nats-server'), async () => {
  const { registry } = await memoryRegistry(scripted())
  const { b } = await twoHosts(servicesOf(registry))
  const session = await b.caller.to('a').value('sessions.spawn', [{ adapter: 'fake' }], { by: OWNER })
  const { id } = session
  const { turn } = await b.caller.to('a').value('sessions.prompt', [id, { prompt: 'hello' }], { by: OWNER })
  const result = await b.caller.to('a').value('sessions.waitTurn', [id, turn])
  expect(result).toEqual(await registry.waitTurn(id, turn))
  expect(result.text).toBe('echo: hello')
})

test('17.2 an error is the same as at the owner: code, message, hint and data', needs('nats-server'), async () => {
  const { registry } = await memoryRegistry(scripted(held().script))
  const { b } = await twoHosts(servicesOf(registry))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, OWNER)
  const wrong: readonly [() => Promise<unknown>, () => Promise<unknown>][] = [
    [() => registry.get('s_none0000'), () => b.caller.to('a').value('sessions.get', ['s_none0000', undefined])],
    [
      () => registry.prompt(id, { prompt: 'y' }, OWNER),
      () => b.caller.to('a').value('sessions.prompt', [id, { prompt: 'y' }], { by: OWNER }),
    ],
    [() => registry.turn(id, 9), () => b.caller.to('a').value('sessions.turn', [id, 9])],
    [
      () => registry.spawn({ adapter: 'none' }, OWNER),
      () => b.caller.to('a').value('sessions.spawn', [{ adapter: 'none' }], { by: OWNER }),
    ],
    [() => registry.follow('s_none0000', 0), () => b.caller.to('a').reader('sessions.follow', ['s_none0000', 0])],
    [() => registry.archive.export('s_none0000', 'md'), () => b.caller.to('a').texts(['s_none0000', 'md'])],
  ]
  for (const [here, there] of wrong) {
    const local = await here().catch((thrown: unknown) => thrown)
    const remote = await there().catch((thrown: unknown) => thrown)
    expect(local).toBeInstanceOf(AgentprotoError)
    expect((remote as AgentprotoError).toProblem()).toEqual((local as AgentprotoError).toProblem())
    expect((remote as AgentprotoError).message).toBe((local as AgentprotoError).message)
  }
})

test('17.2 a foreign error of the owner does not leave its host', needs('nats-server'), async () => {
  const { registry } = await memoryRegistry(scripted())
  const own = servicesOf(registry)
  const usage: SharedServices['usage'] = { report: () => Promise.reject(new Error('the secret path /root/x')) }
  const { a, b } = await twoHosts({ ...own, usage })
  const failed = await b.caller
    .to('a')
    .value('usage.report', [undefined, undefined])
    .catch((thrown: unknown) => thrown)
  expect(JSON.stringify([failed, (failed as Error).message])).not.toContain('secret')
  expect(failed).toMatchObject({ code: 'internal' })
  expect(a.problems.join()).toContain('the secret path')
})

test('17.2 a long wait outlasts keep-alives and a restart of NATS', needs('nats-server'), async () => {
  const { script, end } = held()
  const { registry } = await memoryRegistry(scripted(script))
  const { server, b } = await twoHosts(servicesOf(registry))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, OWNER)
  const waited = b.caller.to('a').value('sessions.waitTurn', [id, 1])
  await b.nats.flush()
  await server.kill()
  await server.start()
  end()
  expect(await waited).toMatchObject({ text: 'working', reason: 'end_turn' })
})

test('17.2 a wait whose caller leaves is cancelled at the owner, with its error', needs('nats-server'), async () => {
  const { registry } = await memoryRegistry(scripted(held().script))
  const { b } = await twoHosts(servicesOf(registry))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, OWNER)
  await b.caller.to('a').value('sessions.requests', [id])
  const local = new AbortController()
  const here = registry.waitTurn(id, 1, local.signal).catch((thrown: unknown) => thrown)
  const remote = new AbortController()
  const there = b.caller
    .to('a')
    .value('sessions.waitTurn', [id, 1], { signal: remote.signal })
    .catch((thrown: unknown) => thrown)
  await b.nats.flush()
  local.abort()
  remote.abort()
  expect(((await there) as AgentprotoError).toProblem()).toEqual(((await here) as AgentprotoError).toProblem())
  const before = new AbortController()
  before.abort()
  await expect(b.caller.to('a').value('sessions.waitTurn', [id, 1], { signal: before.signal })).rejects.toMatchObject({
    code: 'cancelled',
  })
})

test('17.2 a wait ends when its owner is not heard from any more', needs('nats-server'), async () => {
  const { registry } = await memoryRegistry(scripted(held().script))
  const server = await startNats()
  await startHost(server, { name: 'a', own: servicesOf(registry) })
  const clock = new ManualClock()
  Object.assign(clock, { now: () => Date.now() })
  let isReachable = true
  const b = await startHost(server, { name: 'b', own: servicesOf(registry), clock, isReachable: () => isReachable })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, OWNER)
  const waited = b.caller
    .to('a')
    .value('sessions.waitTurn', [id, 1])
    .catch((thrown: unknown) => thrown)
  await b.nats.flush()
  isReachable = false
  await clock.advance(1_000)
  expect(await waited).toMatchObject({
    code: 'host_unreachable',
    parts: { data: { host: 'a', retryAfter: expect.any(Number) } },
  })
})

test('17.2 a host that nothing listens for is unreachable after some seconds', needs('nats-server'), async () => {
  const { registry } = await memoryRegistry(scripted())
  const started = Date.now()
  const fast = {
    now: () => started + (Date.now() - started) * 20,
    after: (ms: number, run: () => void) => systemClock.after(ms / 20, run),
  }
  const b = await startHost(await startNats(), { name: 'b', own: servicesOf(registry), clock: fast })
  await expect(b.caller.to('nobody').value('sessions.requests', ['s_1'])).rejects.toMatchObject({
    code: 'host_unreachable',
  })
  expect(fast.now() - started).toBeGreaterThan(7_000)
})

test('17.2 a prompt whose answer is lost runs once', needs('nats-server'), async () => {
  const { registry } = await memoryRegistry(scripted())
  const { server, b } = await twoHosts(servicesOf(registry))
  const { id } = await registry.spawn({ adapter: 'fake' }, OWNER)
  await b.caller.to('a').value('sessions.requests', [id])
  for (let round = 1; round <= 5; round++) {
    const prompted = b.caller.to('a').value('sessions.prompt', [id, { prompt: 'x' }], { by: OWNER })
    // Somewhere between the call and its answer.
    await new Promise((resolve) => setImmediate(resolve))
    await server.kill()
    await server.start()
    const { turn } = await prompted
    expect(turn).toBe(round)
    await registry.waitTurn(id, turn)
  }
  expect((await registry.get(id)).turnCount).toBe(5)
})

test(
  '17.2 after a restart of the owner a read is done again, and a prompt that may have run is not',
  needs('nats-server'),
  async () => {
    const { registry } = await memoryRegistry(scripted(held().script))
    const { server, a, b } = await twoHosts(servicesOf(registry))
    const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, OWNER)
    const waited = b.caller.to('a').value('sessions.waitTurn', [id, 1])
    const interrupting = b.caller
      .to('a')
      .value('sessions.forget', ['s_none0000'], { by: OWNER })
      .catch((thrown: unknown) => thrown)
    await interrupting
    await b.nats.flush()
    a.answerer.close()
    await a.nats.flush()
    await startHost(server, { name: 'a', own: servicesOf(registry) })
    await server.kill()
    await server.start()
    await registry.interrupt(id, OWNER)
    expect(await waited).toMatchObject({ number: 1 })
    expect(await b.caller.to('a').value('sessions.requests', [id])).toEqual([])
  },
)

test('17.2 a follower at another host gets every event in order, and its end', needs('nats-server'), async () => {
  const { registry } = await memoryRegistry(scripted())
  const { b } = await twoHosts(servicesOf(registry))
  const { id } = await registry.spawn({ adapter: 'fake' }, OWNER)
  const reader = await b.caller.to('a').reader('sessions.follow', [id, 0])
  const numbers: number[] = []
  const reading = (async () => {
    for (let batch = await reader.next(); batch !== undefined; batch = await reader.next())
      numbers.push(...batch.records.map(({ seq }) => seq))
  })()
  for (let turn = 1; turn <= 50; turn++) {
    await registry.prompt(id, { prompt: `p${turn}` }, OWNER)
    await registry.waitTurn(id, turn)
  }
  await registry.kill(id, OWNER)
  await reading
  expect(numbers).toEqual(numbers.map((_, at) => at + 1))
  expect(numbers).toHaveLength((await registry.get(id)).lastSeq)
})

test('17.2 nothing is read at the owner that the other host does not ask for', needs('nats-server'), async () => {
  let reads = 0
  let closed = false
  const endless = {
    next: async (): Promise<EventBatch> => {
      reads += 1
      return { records: [{ seq: reads, type: 'text-delta', json: '{}' }] }
    },
    close: () => void (closed = true),
  }
  const { registry } = await memoryRegistry(scripted())
  const own = servicesOf(registry)
  const sessions = Object.setPrototypeOf({ follow: async () => endless }, registry)
  const { a, b } = await twoHosts({ ...own, sessions })
  const reader = await b.caller.to('a').reader('sessions.follow', ['s_1', 0])
  expect(reads).toBe(0)
  await reader.next()
  await reader.next()
  await a.nats.flush()
  expect(reads).toBe(2)
  reader.close()
  await expect.poll(() => closed).toBe(true)
  expect(a.answerer.openReaders).toBe(0)
  expect(await reader.next()).toBeUndefined()
})

test('17.2 a reader whose waiter leaves loses nothing', needs('nats-server'), async () => {
  const { registry } = await memoryRegistry(scripted())
  const { b } = await twoHosts(servicesOf(registry))
  const { id } = await registry.spawn({ adapter: 'fake' }, OWNER)
  const { lastSeq } = await registry.get(id)
  const reader = await b.caller.to('a').reader('sessions.follow', [id, lastSeq])
  const leaving = new AbortController()
  const left = reader.next(leaving.signal)
  leaving.abort()
  expect(await left).toBeUndefined()
  await registry.prompt(id, { prompt: 'x' }, OWNER)
  expect((await reader.next())?.records[0]?.seq).toBe(lastSeq + 1)
  reader.close()
})

test('17.2 readers of a host that is gone are closed', needs('nats-server'), async () => {
  const { registry } = await memoryRegistry(scripted())
  const server = await startNats()
  const clock = new ManualClock()
  const start = Date.now()
  const from = clock.now()
  const shifted = { now: () => clock.now() - from + start, after: clock.after.bind(clock) }
  const a = await startHost(server, { name: 'a', own: servicesOf(registry), clock: shifted })
  const b = await startHost(server, { name: 'b', own: servicesOf(registry) })
  const { id } = await registry.spawn({ adapter: 'fake' }, OWNER)
  await b.caller.to('a').reader('sessions.follow', [id, 0])
  expect(a.answerer.openReaders).toBe(1)
  b.caller.close()
  await clock.advance(80_000)
  expect(a.answerer.openReaders).toBe(0)
})

test(
  '17.2 a prompt and an output that are larger than a message of NATS arrive whole',
  needs('nats-server'),
  async () => {
    const { registry } = await memoryRegistry(scripted())
    const { b } = await twoHosts(servicesOf(registry))
    const { id } = await registry.spawn({ adapter: 'fake' }, OWNER)
    const prompt = 'ü€😀'.repeat(350_000)
    await b.caller.to('a').value('sessions.prompt', [id, { prompt }], { by: OWNER })
    await registry.waitTurn(id, 1)
    const detail = await b.caller.to('a').value('sessions.turn', [id, 1])
    expect(detail).toEqual(await registry.turn(id, 1))
    const batch = await b.caller.to('a').value('sessions.events', [id, 0, 1_000])
    expect(batch).toEqual(await registry.events(id, 0, 1_000))
    expect(JSON.stringify(batch).length).toBeGreaterThan(2_000_000)
  },
)

test(
  '17.2 what is too large for a call is refused, and what is not complete is not kept',
  needs('nats-server'),
  async () => {
    const { registry } = await memoryRegistry(scripted())
    const { b } = await twoHosts(servicesOf(registry))
    const prompt = 'x'.repeat(33 * 1024 * 1024)
    await expect(b.caller.to('a').value('sessions.prompt', ['s_1', { prompt }], { by: OWNER })).rejects.toMatchObject({
      code: 'payload_too_large',
    })
  },
)

test('17.2 an export goes in pieces, and comes back as an import', needs('nats-server'), async () => {
  const { registry } = await memoryRegistry(scripted())
  const { b } = await twoHosts(servicesOf(registry))
  const { id } = await registry.spawn({ adapter: 'fake' }, OWNER)
  await registry.prompt(id, { prompt: '😀'.repeat(400_000) }, OWNER)
  await registry.waitTurn(id, 1)
  const here: string[] = []
  for await (const piece of await registry.archive.export(id, 'jsonl')) here.push(piece)
  const there: string[] = []
  for await (const piece of await b.caller.to('a').texts([id, 'jsonl'])) there.push(piece)
  const [local, remote] = [here.join('').split('\n'), there.join('').split('\n')]
  expect(remote.slice(1)).toEqual(local.slice(1))
  async function* pieces(): AsyncGenerator<string> {
    for (let at = 0; at < there.length; at++) yield there[at] ?? ''
  }
  const imported = await b.caller.to('a').value('archive.import', [], { by: OWNER, text: pieces() })
  expect(await registry.get(imported.id)).toMatchObject({ imported: { id } })
})

test(
  '17.2 an import that is invalid, or that its sender breaks off, leaves nothing behind',
  needs('nats-server'),
  async () => {
    const { registry } = await memoryRegistry(scripted())
    const { b } = await twoHosts(servicesOf(registry))
    async function* wrong(): AsyncGenerator<string> {
      for (let line = 0; line < 100; line++) yield 'this is no export\n'
    }
    const local = await registry.archive.import(wrong(), OWNER).catch((thrown: unknown) => thrown)
    const remote = await b.caller
      .to('a')
      .value('archive.import', [], { by: OWNER, text: wrong() })
      .catch((thrown: unknown) => thrown)
    expect((remote as AgentprotoError).toProblem()).toEqual((local as AgentprotoError).toProblem())
    async function* broken(): AsyncGenerator<string> {
      yield '{"format":"agentproto.session.v1",'
      throw new AgentprotoError('cancelled', 'The upload was broken off')
    }
    await expect(b.caller.to('a').value('archive.import', [], { by: OWNER, text: broken() })).rejects.toMatchObject({
      message: 'The upload was broken off.',
    })
    expect((await registry.list()).sessions).toEqual([])
  },
)

test('17.2 an agent of another host keeps its principal', needs('nats-server'), async () => {
  const seen: (Principal | undefined)[] = []
  const { registry } = await memoryRegistry(scripted())
  const own = servicesOf(registry)
  const sessions = Object.setPrototypeOf(
    { kill: async (_id: string, by: Principal) => (seen.push(by), { ok: true }), get: async () => ({}) },
    registry,
  )
  const { b } = await twoHosts({ ...own, sessions })
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const principals: readonly Principal[] = [
    { type: 'owner', name: 'owner', trace: { traceparent } },
    { type: 'token', name: 't', scope: 'operate', workspaces: ['w'], folders: { w: '/x' } },
    { type: 'session', name: 'session s_1', sessionId: 's_1', delegates: true },
  ]
  for (const by of principals)
    await b.caller.to('a').value('sessions.kill', ['s_2', undefined], { by: { ...by, via: 'z' } })
  expect(seen).toEqual(principals.map((by) => defined({ ...by, via: 'b' })))
})

test('17.3 a host that does not have a session any more executes no call of it', needs('nats-server'), async () => {
  const { registry } = await memoryRegistry(scripted())
  const server = await startNats()
  const own = servicesOf(registry)
  let isFenced = false
  await startHost(server, { name: 'a', own, mayRun: () => !isFenced })
  const b = await startHost(server, { name: 'b', own })
  const { id } = await registry.spawn({ adapter: 'fake' }, OWNER)
  const prompt = () => b.caller.to('a').value('sessions.prompt', [id, { prompt: 'x' }], { by: OWNER })
  await prompt()
  isFenced = true
  await expect(prompt()).rejects.toMatchObject({ code: 'host_unreachable', parts: { data: { retryAfter: 5 } } })
  expect((await registry.get(id)).turnCount).toBe(1)
})

test(
  '17.2 each of many prompts runs at most once while NATS is killed again and again',
  needs('nats-server'),
  async () => {
    const { registry } = await memoryRegistry(scripted())
    const { server, b } = await twoHosts(servicesOf(registry))
    const ids: string[] = []
    for (let i = 0; i < 20; i++) ids.push((await registry.spawn({ adapter: 'fake' }, OWNER)).id)
    const accepted = new Map<string, number>(ids.map((id) => [id, 0]))
    let isOver = false
    const prompting = ids.map(async (id) => {
      for (let round = 0; round < 15; round++) {
        const { turn } = await b.caller.to('a').value('sessions.prompt', [id, { prompt: `${round}` }], { by: OWNER })
        accepted.set(id, (accepted.get(id) ?? 0) + 1)
        expect(await b.caller.to('a').value('sessions.waitTurn', [id, turn])).toMatchObject({ text: `echo: ${round}` })
      }
    })
    const all = Promise.all(prompting).finally(() => (isOver = true))
    all.catch(() => undefined)
    const total = (): number => [...accepted.values()].reduce((sum, count) => sum + count, 0)
    for (let kills = 0; kills < 10 && !isOver; kills++) {
      const before = total()
      await expect.poll(() => isOver || total() > before + 5, { interval: 1 }).toBe(true)
      await server.kill()
      await server.start()
    }
    await all
    for (const id of ids) expect((await registry.get(id)).turnCount).toBe(accepted.get(id))
    expect([...accepted.values()]).toEqual(ids.map(() => 15))
  },
)

test('17.7 a host with another key is not taken for one that does not answer', needs('nats-server'), async () => {
  const { registry } = await memoryRegistry(scripted())
  const server = await startNats()
  const own = servicesOf(registry)
  const other = await startHost(server, { name: 'a', own, key: new Uint8Array(32) })
  const b = await startHost(server, { name: 'b', own })
  const begun = performance.now()
  await expect(b.caller.to('a').value('sessions.requests', ['s_1'])).rejects.toMatchObject({
    code: 'host_unreachable',
    message: expect.stringContaining('the same fleet key on all hosts'),
    parts: { data: { host: 'a', reason: 'other_key', retryAfter: 5 } },
  })
  expect(performance.now() - begun).toBeLessThan(5_000)
  expect(other.problems.join()).toContain('forged')
})
