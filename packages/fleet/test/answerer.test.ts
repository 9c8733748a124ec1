import { randomBytes } from 'node:crypto'
import { type Principal, systemClock } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { scripted } from '../../session-registry/test/fixtures/scripted-agent.ts'
import { memoryRegistry } from '../../session-registry/test/fixtures/test-registry.ts'
import type { SharedServices } from '../src/calls/places.ts'
import { seal, unseal } from '../src/keys/signature.ts'
import { answersTo, callSubject } from '../src/subjects.ts'
import { startNats } from './support/nats-servers.ts'
import { RawPeer } from './support/raw-peer.ts'
import { connected, KEY, servicesOf, startHost, type TestHost } from './support/two-hosts.ts'

const OWNER: Principal = { type: 'owner', name: 'owner' }

interface Attacked {
  readonly host: TestHost
  readonly peer: RawPeer
  readonly id: string
  /** Prompts that the session has received. */
  readonly prompts: () => Promise<number>
  readonly own: SharedServices
  readonly url: string
}

/** A host `a` with a session, and a client that has met it. */
async function attacked(): Promise<Attacked> {
  const { registry } = await memoryRegistry(scripted())
  const own = servicesOf(registry)
  const server = await startNats()
  const host = await startHost(server, { name: 'a', own })
  const { id } = await registry.spawn({ adapter: 'fake' }, OWNER)
  const peer = new RawPeer(await connected(server))
  await peer.meet()
  const prompts = async (): Promise<number> => (await registry.get(id)).turnCount
  return { host, peer, id, prompts, own, url: server.url }
}

const promptOf = (id: string) => ({ args: [id, { prompt: 'hello' }], by: OWNER })

test('17.7 a call that a host of the fleet signed is answered', needs('nats-server'), async () => {
  const { peer, id, prompts } = await attacked()
  expect(await peer.call('sessions.prompt', promptOf(id))).toMatchObject({
    state: 'done',
    isSigned: true,
    outcome: { value: { turn: 1 } },
  })
  expect(await prompts()).toBe(1)
})

test(
  '17.7 a principal that another key has signed is refused, and the host does not sign the refusal',
  needs('nats-server'),
  async () => {
    const { peer, id, prompts, host } = await attacked()
    const head = { kind: 'call', id: 'x', method: 'sessions.prompt', begun: Date.now(), parts: 0 }
    const key = new Uint8Array(randomBytes(32))
    expect(await peer.ask({ head, body: promptOf(id), key })).toMatchObject({
      state: 'refused',
      reason: 'forged',
      isSigned: false,
    })
    expect(host.problems.join()).toContain('forged')
    expect(await prompts()).toBe(0)
  },
)

test(
  '17.7 no byte of a signed call can be changed: principal, method, arguments, host, time',
  needs('nats-server'),
  async () => {
    const { peer, id, prompts } = await attacked()
    const changes = [
      ['"owner"', '"token"'],
      ['sessions.prompt', 'sessions.forget'],
      ['hello', 'jello'],
      ['"to":"a"', '"to":"c"'],
      ['"from":"b"', '"from":"c"'],
      ['"expires":1', '"expires":9'],
      [id, `${id.slice(0, -1)}!`],
    ] as const
    for (const [from, to] of changes) {
      const change = (message: Uint8Array): Uint8Array => {
        const text = Buffer.from(message).toString('latin1')
        expect(text).toContain(from)
        return Buffer.from(text.replace(from, to), 'latin1')
      }
      const head = { kind: 'call', id: 'x', method: 'sessions.prompt', begun: Date.now(), parts: 0 }
      expect(await peer.ask({ head, body: promptOf(id), change }), from).toMatchObject({ reason: 'forged' })
    }
    const flipped = seal(KEY, { kind: 'alive' }, Buffer.from('body'))
    for (let at = 0; at < flipped.length; at++) {
      const copy = Uint8Array.from(flipped)
      copy[at] = (copy[at] ?? 0) ^ 1
      expect(unseal(KEY, copy), `byte ${at}`).toBeUndefined()
    }
    expect(await prompts()).toBe(0)
  },
)

test(
  '17.7 a call that was sent before is refused, also to another host and after a restart of the host',
  needs('nats-server'),
  async () => {
    const { peer, id, prompts, own, url, host } = await attacked()
    await peer.call('sessions.prompt', promptOf(id))
    const call = peer.sent.at(-1) ?? new Uint8Array()
    expect(await peer.send(call)).toMatchObject({ state: 'refused', reason: 'replayed', isSigned: true })
    // A host with another name gets it too.
    const other = await startHost({ url }, { name: 'c', own })
    expect(await peer.send(call, { to: 'c' })).toMatchObject({ state: 'refused', reason: 'wrong_host' })
    other.answerer.close()
    host.answerer.close()
    await host.nats.flush()
    await startHost({ url }, { name: 'a', own })
    expect(await peer.send(call)).toMatchObject({ state: 'other_run' })
    expect(await prompts()).toBe(1)
  },
)

test('17.7 an expired call, and one of a clock that is far ahead, are refused', needs('nats-server'), async () => {
  const { peer, id, prompts } = await attacked()
  const call = (expires: number) => peer.call('sessions.prompt', promptOf(id), { expires })
  expect(await call(Date.now() - 1)).toMatchObject({ state: 'refused', reason: 'expired', isSigned: true })
  expect(await call(Date.now() + 120_000)).toMatchObject({ state: 'refused', reason: 'clock', isSigned: true })
  expect(await prompts()).toBe(0)
})

test('17.7 a caller whose clock is off learns by how much', needs('nats-server'), async () => {
  const { url, own, id } = await attacked()
  const late = { now: () => Date.now() - 90_000, after: systemClock.after }
  const { caller } = await startHost({ url }, { name: 'b', own, clock: late })
  await expect(caller.to('a').value('sessions.turns', [id, undefined])).rejects.toMatchObject({
    code: 'host_unreachable',
    message: expect.stringMatching(/clocks of the hosts differ.*90 s ahead/),
    parts: { data: { host: 'a', reason: 'expired' } },
  })
})

test(
  '17.7 a call in the name of another host is audited as of the host that signed it',
  needs('nats-server'),
  async () => {
    const { registry } = await memoryRegistry(scripted())
    const server = await startNats()
    const seen: Principal[] = []
    const services = servicesOf(registry)
    const own = {
      ...services,
      sessions: { ...services.sessions, kill: async (_id: string, by: Principal) => (seen.push(by), { ok: true }) },
    }
    Object.setPrototypeOf(own.sessions, registry)
    await startHost(server, { name: 'a', own })
    const peer = new RawPeer(await connected(server))
    await peer.meet()
    await peer.call('sessions.kill', { args: ['s_1', null], by: OWNER })
    expect(seen).toEqual([{ ...OWNER, via: 'b' }])
    const forged = await peer.call('sessions.kill', { args: ['s_1', null], by: { ...OWNER, via: 'a' } })
    expect(forged.outcome).toMatchObject({ problem: { code: 'unauthorized' } })
    expect(seen).toHaveLength(1)
  },
)

test('17.7 the owner of a session checks scope and bounds of the principal again', needs('nats-server'), async () => {
  const { peer, id, prompts } = await attacked()
  const token = { type: 'token', name: 't', scope: 'read' }
  const call = async (by: object): Promise<unknown> =>
    (await peer.call('sessions.prompt', { args: [id, { prompt: 'x' }], by })).outcome
  expect(await call(token)).toMatchObject({ problem: { code: 'forbidden' } })
  expect(await call({ ...token, scope: 'operate', workspaces: ['other'] })).toMatchObject({
    problem: { code: 'session_not_found' },
  })
  expect(await call({ type: 'session', name: 'session s_x', sessionId: 's_x', delegates: true })).toMatchObject({
    problem: { code: 'session_not_found' },
  })
  expect(await call({ ...token, scope: 'owner' })).toMatchObject({ problem: { code: 'unauthorized' } })
  expect(await call({})).toMatchObject({ problem: { code: 'unauthorized' } })
  expect(await prompts()).toBe(0)
})

test('17.7 nothing is begun for a token that has expired on the way', needs('nats-server'), async () => {
  const { peer, id, prompts } = await attacked()
  const call = async (expiresInMs: number): Promise<unknown> => {
    const expiresAt = new Date(Date.now() + expiresInMs).toISOString()
    const by = { type: 'token', name: 't', scope: 'operate', expiresAt }
    return (await peer.call('sessions.prompt', { args: [id, { prompt: 'x' }], by })).outcome
  }
  expect(await call(-1)).toMatchObject({ problem: { code: 'unauthorized' } })
  expect(await prompts()).toBe(0)
  expect(await call(60_000)).toEqual({ value: { turn: 1 } })
})

test(
  '17.7 a token of one host gets no answer that a token of that name at another host got',
  needs('nats-server'),
  async () => {
    const { peer, id, prompts, url } = await attacked()
    const other = new RawPeer(await connected({ url }), 'c')
    await other.meet()
    const by = { type: 'token', name: 'ci', scope: 'operate' }
    const body = { args: [id, { prompt: 'x', whenBusy: 'queue', idempotencyKey: 'k' }], by }
    const turnOf = async (from: RawPeer): Promise<unknown> => (await from.call('sessions.prompt', body)).outcome
    expect(await turnOf(peer)).toEqual({ value: { turn: 1 } })
    expect(await turnOf(peer)).toEqual({ value: { turn: 1 } })
    expect(await turnOf(other)).toEqual({ value: { turn: 2 } })
    expect(await prompts()).toBe(2)
  },
)

test(
  '17.7 only the methods of the list are answered, and their arguments are parsed',
  needs('nats-server'),
  async () => {
    const { peer, id, prompts, host } = await attacked()
    const codeOf = async (method: string, body: unknown): Promise<unknown> =>
      ((await peer.call(method, body)).outcome as { problem?: { code?: string } }).problem?.code
    for (const method of [
      'constructor',
      'toString',
      '__proto__',
      'sessions.constructor',
      'tokens.create',
      'sessions.watch',
      '',
    ])
      expect(await codeOf(method, { args: [], by: OWNER }), method).toBe('not_supported')
    let deep: unknown = 'x'
    for (let level = 0; level < 100; level++) deep = [deep]
    const bodies: readonly unknown[] = [
      null,
      [],
      'text',
      { args: {}, by: OWNER },
      { args: [id], by: OWNER },
      { args: [id, { prompt: 'x' }, 'more'], by: OWNER },
      { args: [{ toString: 1 }, { prompt: 'x' }], by: OWNER },
      { args: [id, { prompt: 'x', other: 1 }], by: OWNER },
      { args: [id, JSON.parse('{"__proto__":{"prompt":"x"}}')], by: OWNER },
      { args: [id, deep], by: OWNER },
      { args: [id, { prompt: 'x' }], by: OWNER, extra: true },
    ]
    for (const body of bodies)
      expect(await codeOf('sessions.prompt', body), JSON.stringify(body)).toBe('invalid_request')
    expect(await prompts()).toBe(0)
    expect(host.problems).toEqual([])
  },
)

test('17.7 a crafted message is refused before it is read, and the host goes on', needs('nats-server'), async () => {
  const { peer, id } = await attacked()
  for (const bytes of [
    new Uint8Array(),
    new Uint8Array([1]),
    new Uint8Array(36),
    randomBytes(4_096),
    Buffer.from('{"kind":"call"}'),
  ])
    expect(await peer.send(bytes)).toMatchObject({ state: 'refused', reason: 'forged' })
  const huge = seal(KEY, { kind: 'alive' }, new Uint8Array())
  new DataView(huge.buffer, huge.byteOffset).setUint32(33, 0xff_ff_ff_ff)
  expect(await peer.send(huge)).toMatchObject({ reason: 'forged' })
  expect(await peer.call('sessions.requests', { args: [id] })).toMatchObject({ outcome: { value: [] } })
})

test('17.7 another client cannot answer for a host', needs('nats-server'), async () => {
  const { url, id, own } = await attacked()
  const liar = await connected({ url })
  const forged = seal(new Uint8Array(randomBytes(32)), { kind: 'answer', state: 'done' }, Buffer.from('{"value":[1]}'))
  // It sees every call of b, and answers first: with its own key, unsigned, and with what it has overheard.
  const overheard: Uint8Array[] = []
  liar.subscribe(answersTo('b'), { callback: (_, { data }) => void (overheard.length < 20 && overheard.push(data)) })
  liar.subscribe(callSubject('a'), {
    callback: (_, { reply }) => {
      for (const answer of [forged, Buffer.from('{"value":[1]}'), ...overheard]) liar.publish(reply ?? '', answer)
    },
  })
  await liar.flush()
  const { caller } = await startHost({ url }, { name: 'b', own })
  for (let i = 0; i < 20; i++) expect(await caller.to('a').value('sessions.requests', [id])).toEqual([])
})

test(
  '17.7 a flood of forged calls is dropped, and calls of the fleet are answered meanwhile',
  needs('nats-server'),
  async () => {
    const { url, id, own, host } = await attacked()
    const flood = await connected({ url })
    const { caller } = await startHost({ url }, { name: 'b', own })
    for (let i = 0; i < 20_000; i++)
      flood.publish(callSubject('a'), randomBytes(64), { reply: 'agentproto.answer.x.1' })
    expect(await caller.to('a').value('sessions.requests', [id])).toEqual([])
    await flood.flush()
    expect(host.problems).toHaveLength(1)
  },
)

test('17.7 one host cannot open readers without end', needs('nats-server'), async () => {
  const { peer, id, host } = await attacked()
  const outcomes = await Promise.all(
    Array.from({ length: 1_100 }, () => peer.call('sessions.follow', { args: [id, 0] }).then(({ outcome }) => outcome)),
  )
  const codes = outcomes.flatMap((outcome) => (outcome as { problem?: { code: string } }).problem?.code ?? [])
  expect(host.answerer.openReaders).toBe(1_024)
  expect(new Set(codes)).toEqual(new Set(['stream_limit_reached']))
})
