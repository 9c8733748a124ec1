import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { expect, test, vi } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { SESSIONS_BUCKET } from '../src/subjects.ts'
import { storeDamaged } from './support/damaged-header.ts'
import { lastOf, storeAgain, storeSigned } from './support/stored.ts'
import { startNats, startNatsCluster } from './support/nats-servers.ts'
import { FreezableClock, joinHost, type TestHost, testSession } from './support/test-host.ts'

test('17.3 a claimed session is seen by all hosts, with its owner and epoch', needs('nats-server'), async () => {
  const { url } = await startNats()
  const [a, b] = await hostsOf(url, 'a', 'b')
  expect(await a.sessions.claim(testSession('s1'))).toBe(1)
  expect(a.sessions.mayWrite('s1')).toBe(true)
  await expect
    .poll(() => b.sessions.get('s1'))
    .toMatchObject({ owner: 'a', epoch: 1, session: { id: 's1', state: 'idle' } })
  expect(b.sessions.mayWrite('s1')).toBe(false)
  expect(b.sessions.mayRun('s1')).toBe(false)
  expect(b.sessions.isReachable('s1')).toBe(true)
})

test('17.3 of two hosts that claim one session, one has it', needs('nats-server'), async () => {
  const { url } = await startNats()
  const all = await hostsOf(url, 'a', 'b')
  const claims = await Promise.allSettled(all.map(({ sessions }) => sessions.claim(testSession('s1'))))
  expect(claims.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(claims.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'session_live' } })
  expect(all.filter(({ sessions }) => sessions.mayWrite('s1'))).toHaveLength(1)
  expect(all.flatMap(({ fenced }) => fenced)).toHaveLength(1)
})

test('17.3 changes are written at most some times a second, the latest last', needs('nats-server'), async () => {
  const { url } = await startNats()
  const [a, b] = await hostsOf(url, 'a', 'b')
  await a.sessions.claim(testSession('s1'))
  const before = await revisionOf(a, 's1')
  for (let lastSeq = 1; lastSeq <= 1_000; lastSeq++) a.sessions.keep(testSession('s1', { lastSeq }))
  await expect.poll(() => b.sessions.get('s1')?.session.lastSeq).toBe(1_000)
  expect((await revisionOf(a, 's1')) - before).toBeLessThanOrEqual(2)
})

test('17.3 what a host reads of its sessions after a restart needs no write', needs('nats-server'), async () => {
  const { url } = await startNats()
  const [a] = await hostsOf(url, 'a')
  await a.sessions.claim(testSession('s1'))
  const before = await revisionOf(a, 's1')
  await a.close()
  const [again] = await hostsOf(url, 'a')
  expect(await again.sessions.claim(testSession('s1'))).toBe(1)
  expect(await revisionOf(again, 's1')).toBe(before)
})

test(
  '17.3 what a killed gateway has sent, and NATS stores late, does not stay in place of what its next run knows',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const [a, b] = await hostsOf(url, 'a', 'b')
    await a.sessions.claim(testSession('s1', { title: 'now' }))
    await expect.poll(() => b.sessions.get('s1')?.session.title).toBe('now')
    const late = { ...a.sessions.get('s1'), session: testSession('s1', { title: 'before' }) }
    for (let times = 0; times < 3; times++) {
      const body = JSON.stringify(late)
      const subject = `$KV.${SESSIONS_BUCKET}.s1`
      await storeSigned(b.cluster.nats, { stream: `KV_${SESSIONS_BUCKET}`, subject, body })
      await expect.poll(() => b.sessions.get('s1')?.session.title).toBe('before')
      await expect.poll(() => b.sessions.get('s1')?.session.title, { timeout: 3_000 }).toBe('now')
    }
    const written = await revisionOf(a, 's1')
    a.sessions.keep(testSession('s1', { title: 'after' }))
    await expect.poll(() => b.sessions.get('s1')?.session.title).toBe('after')
    expect(await revisionOf(a, 's1')).toBe(written + 1)
    expect(a.fenced).toEqual([])
  },
)

test(
  '17.4 an ended session whose log is whole in the fleet is not asked about again, until it goes on',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const [a] = await hostsOf(url, 'a')
    const ended = testSession('s1', { status: 'exited', state: 'ended', lastSeq: 7 })
    await a.sessions.claim(ended)
    await a.sessions.complete('s1', 7)
    expect(a.sessions.get('s1')?.complete).toBe(7)
    expect(a.sessions.epochOf('s1')).toBe(1)
    await a.close()
    const [again] = await hostsOf(url, 'a')
    const before = await revisionOf(again, 's1')
    await again.sessions.claim(ended)
    expect(again.sessions.get('s1')?.complete).toBe(7)
    expect(await revisionOf(again, 's1')).toBe(before)
    await again.sessions.claim(testSession('s1', { lastSeq: 8 }))
    expect(again.sessions.get('s1')?.complete).toBeUndefined()
  },
)

test(
  '17.3 a deleted session is gone everywhere, and an old host cannot bring it back',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const [a, b] = await hostsOf(url, 'a', 'b')
    await a.sessions.claim(testSession('s1'))
    await expect.poll(() => b.sessions.get('s1')).toBeDefined()
    await expect(b.sessions.forget('s1')).rejects.toMatchObject({ code: 'session_live' })
    await a.sessions.forget('s1')
    expect(a.sessions.get('s1')).toBeUndefined()
    await expect.poll(() => b.sessions.get('s1')).toBeUndefined()
    await expect(b.sessions.claim(testSession('s1'))).rejects.toMatchObject({ code: 'session_not_found' })
    expect(b.fenced).toEqual([{ id: 's1', owner: undefined }])
  },
)

test('17.6 a session that waits for its host is not taken; its host goes on alone', needs('nats-server'), async () => {
  const { url } = await startNats()
  const { clock, a, b } = await twoWithFrozen(url, testSession('s1'))
  clock.freeze()
  await expect.poll(() => b.sessions.isReachable('s1'), { timeout: 3_000 }).toBe(false)
  await expect(b.sessions.takeOver('s1')).rejects.toMatchObject({ code: 'session_live' })
  clock.jump(10_000)
  expect(a.sessions.mayWrite('s1')).toBe(false)
  expect(a.sessions.mayRun('s1')).toBe(true)
  clock.thaw()
  await expect.poll(() => a.sessions.mayWrite('s1')).toBe(true)
  expect(a.sessions.epochOf('s1')).toBe(1)
  expect(a.fenced).toEqual([])
})

test(
  '17.6 a session that may move is taken when its host cannot believe in it any more; the host is fenced when it is back',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const { clock, a, b } = await twoWithFrozen(url, testSession('s1', { onHostLoss: 'move' }))
    clock.freeze()
    await expect.poll(() => b.sessions.isReachable('s1'), { timeout: 3_000 }).toBe(false)
    const taking = b.sessions.takeOver('s1')
    await expect.poll(() => a.sessions.mayRun('s1'), { timeout: 3_000 }).toBe(false)
    expect(b.sessions.mayWrite('s1')).toBe(false)
    expect(await taking).toBe(2)
    expect(b.sessions.mayWrite('s1')).toBe(true)
    expect(b.sessions.get('s1')).toMatchObject({ owner: 'b', epoch: 2, session: { hostId: 'b', movedFrom: 'a' } })
    clock.thaw()
    await expect.poll(() => a.fenced).toEqual([{ id: 's1', owner: 'b' }])
    await expect.poll(() => a.hosts.term).toBeDefined()
    expect(a.sessions.mayWrite('s1')).toBe(false)
    expect(a.sessions.mayRun('s1')).toBe(false)
    // The copy may be faster than the timer: then the session is fenced already.
    expect(a.suspended).toHaveLength(1)
    await expect.poll(() => a.released).toEqual([a.hosts.term])
  },
)

test('17.6 of hosts that take one session at the same time, one gets it', needs('nats-server'), async () => {
  const { url } = await startNats()
  const clock = new FreezableClock()
  const a = await joinHost('a', [url], { clock, monotonic: clock.monotonic })
  const others = await hostsOf(url, 'b', 'c', 'd')
  await a.sessions.claim(testSession('s1', { onHostLoss: 'move' }))
  for (const { sessions } of others) await expect.poll(() => sessions.get('s1')).toBeDefined()
  clock.freeze()
  for (const { sessions } of others) await expect.poll(() => sessions.isReachable('s1'), { timeout: 3_000 }).toBe(false)
  const results = await Promise.allSettled(others.map(({ sessions }) => sessions.takeOver('s1')))
  expect(results.filter(({ status }) => status === 'fulfilled')).toEqual([{ status: 'fulfilled', value: 2 }])
  expect(others.filter(({ sessions }) => sessions.mayWrite('s1'))).toHaveLength(1)
})

test(
  '17.6 a host that is back in time keeps its session, while another one takes it',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const { clock, a, b } = await twoWithFrozen(url, testSession('s1', { onHostLoss: 'move' }))
    clock.freeze()
    await expect.poll(() => b.sessions.isReachable('s1'), { timeout: 3_000 }).toBe(false)
    const taking = b.sessions.takeOver('s1')
    clock.thaw()
    await expect(taking).rejects.toMatchObject({ code: 'session_live' })
    await expect.poll(() => a.sessions.mayWrite('s1')).toBe(true)
    expect(a.fenced).toEqual([])
  },
)

test(
  '17.3 a host that joined again after its eviction keeps its session: the late take fails',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const { clock, a, b } = await twoWithFrozen(url, testSession('s1', { onHostLoss: 'move' }))
    const evict = b.hosts.evict.bind(b.hosts)
    vi.spyOn(b.hosts, 'evict').mockImplementation(async (host) => {
      const isEvicted = await evict(host)
      clock.thaw()
      await expect.poll(() => a.sessions.mayWrite('s1')).toBe(true)
      return isEvicted
    })
    clock.freeze()
    await expect.poll(() => b.sessions.isReachable('s1'), { timeout: 3_000 }).toBe(false)
    await expect(b.sessions.takeOver('s1')).rejects.toMatchObject({ code: 'session_live' })
    expect(a.sessions.mayWrite('s1')).toBe(true)
    expect(a.sessions.epochOf('s1')).toBe(1)
  },
)

test(
  '17.R3 a record of a lost host with a wider grant of delegation, from a client without the key, is not what is taken up',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const delegation = { ttlSeconds: 60, maxDepth: 1, maxChildren: 1, adapters: ['demo'], modes: [], options: [] }
    const granted = { ...delegation, permissionMode: 'ask' } as const
    const { clock, b } = await twoWithFrozen(url, testSession('s1', { onHostLoss: 'move', delegation: granted }))
    clock.freeze()
    await expect.poll(() => b.sessions.isReachable('s1'), { timeout: 3_000 }).toBe(false)
    const last = await lastOf(b.cluster.nats, `KV_${SESSIONS_BUCKET}`, `$KV.${SESSIONS_BUCKET}.s1`)
    const text = Buffer.from(last.body).toString()
    const wider = text
      .replace('"permissionMode":"ask","', '"permissionMode":"approve-all","')
      .replace('"maxDepth":1', '"maxDepth":8')
    expect(wider).not.toBe(text)
    await storeAgain(b.cluster.nats, { ...last, body: Buffer.from(wider) })
    // What the owner signed last counts, so that no other client can keep it from being taken.
    expect(await b.sessions.takeOver('s1')).toBe(2)
    expect(b.sessions.get('s1')?.session.delegation).toEqual(granted)
    const stored = await lastOf(b.cluster.nats, `KV_${SESSIONS_BUCKET}`, `$KV.${SESSIONS_BUCKET}.s1`)
    expect(JSON.parse(Buffer.from(stored.body).toString())).toMatchObject({
      owner: 'b',
      session: { delegation: granted },
    })
  },
)

test('17.3 a host that was away reads its sessions again before it writes', needs('nats-server'), async () => {
  const server = await startNats()
  const [a, b] = await hostsOf(server.url, 'a', 'b')
  await a.sessions.claim(testSession('s1'))
  await server.kill()
  await expect.poll(() => a.hosts.term, { timeout: 5_000 }).toBeUndefined()
  expect(a.sessions.mayWrite('s1')).toBe(false)
  a.sessions.keep(testSession('s1', { lastSeq: 5 }))
  a.sessions.keep(testSession('new'))
  expect(a.sessions.mayRun('new')).toBe(true)
  await server.start()
  await expect.poll(() => b.sessions.get('s1')?.session.lastSeq, { timeout: 10_000 }).toBe(5)
  await expect.poll(() => b.sessions.get('new')).toBeDefined()
  expect(a.sessions.epochOf('s1')).toBe(1)
  expect(a.fenced).toEqual([])
})

test(
  '17.3 the copy shows what was added, changed and removed while its connection was away',
  needs('nats-server'),
  async () => {
    const servers = await startNatsCluster()
    const urls = servers.map(({ url }) => url)
    const a = await joinHost('a', urls.slice(0, 1), { leaseMs: 5_000 })
    const b = await joinHost('b', urls.slice(1, 2), { leaseMs: 5_000 })
    for (const id of ['kept', 'changed', 'removed', 'purged']) await a.sessions.claim(testSession(id))
    await expect.poll(() => [...b.sessions.all()].length).toBe(4)
    const changes = b.sessions.changes()
    // b is reconnected to nothing but the server that it was given, or what that one has named.
    servers[1]?.freeze()
    await a.sessions.claim(testSession('changed', { lastSeq: 3 }))
    await a.sessions.claim(testSession('added'))
    for (const id of ['removed', 'purged'])
      await expect.poll(() => a.sessions.forget(id).then(() => a.sessions.get(id))).toBeUndefined()
    const manager = await jetstreamManager(a.cluster.nats, { checkAPI: false, timeout: 20_000 })
    await manager.streams.purge(`KV_${SESSIONS_BUCKET}`, { filter: `$KV.${SESSIONS_BUCKET}.purged` })
    await expect.poll(() => b.sessions.get('added'), { timeout: 30_000 }).toBeDefined()
    expect([...b.sessions.all()].map(({ session }) => session.id).toSorted()).toEqual(['added', 'changed', 'kept'])
    expect(b.sessions.get('changed')?.session.lastSeq).toBe(3)
    expect(await changes.next()).toEqual(expect.arrayContaining(['changed', 'added', 'removed', 'purged']))
    servers[1]?.thaw()
  },
)

test('17.3 a server that has lost everything gets the records again', needs('nats-server'), async () => {
  const { url } = await startNats()
  const [a, b] = await hostsOf(url, 'a', 'b')
  await a.sessions.claim(testSession('s1'))
  const manager = await jetstreamManager(a.cluster.nats)
  await manager.streams.purge(`KV_${SESSIONS_BUCKET}`)
  a.sessions.keep(testSession('s1', { lastSeq: 2 }))
  await expect.poll(() => b.sessions.get('s1')?.session.lastSeq).toBe(2)
  expect(a.fenced).toEqual([])
})

test('17.3 what is not a session record is ignored', needs('nats-server'), async () => {
  const { url } = await startNats()
  const [a] = await hostsOf(url, 'a')
  await a.sessions.claim(testSession('s1'))
  const record = a.sessions.get('s1')
  await store(a, 's2', 'hello')
  await store(a, 's3', JSON.stringify(record))
  await store(a, 's4', JSON.stringify({ ...record, epoch: -1, session: testSession('s4') }))
  await store(a, 's5', JSON.stringify({ ...record, session: testSession('s5') }))
  await expect.poll(() => a.sessions.get('s5')).toBeDefined()
  expect([...a.sessions.all()].map(({ session }) => session.id)).toEqual(['s1', 's5'])
})

test(
  '17.R3 a client without the key of the fleet cannot take, move, end or show a session: its host writes the record again',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const [a, b] = await hostsOf(url, 'a', 'b')
    await a.sessions.claim(testSession('s1', { onHostLoss: 'move' }))
    const early = await lastOf(b.cluster.nats, STREAM, `$KV.${SESSIONS_BUCKET}.s1`)
    await a.sessions.claim(testSession('s1', { onHostLoss: 'move', lastSeq: 7 }))
    await expect.poll(() => b.sessions.get('s1')?.session.lastSeq).toBe(7)
    const record = b.sessions.get('s1')
    const bucket = await new Kvm(b.cluster.nats).open(SESSIONS_BUCKET)
    await bucket.put('s2', JSON.stringify({ ...record, session: testSession('s2') }))
    await bucket.put('__proto__', JSON.stringify({ ...record, session: testSession('__proto__') }))
    const writes = [
      () => bucket.put('s1', 'hello'),
      () => bucket.put('s1', JSON.stringify({ ...record, owner: 'b', epoch: 9 })),
      () => bucket.put('s1', JSON.stringify({ ...record, epoch: Number.MAX_SAFE_INTEGER })),
      () => bucket.put('s1', JSON.stringify({ ...record, owner: 'nowhere', epoch: 2 })),
      () => bucket.delete('s1'),
      () => storeAgain(b.cluster.nats, early),
    ]
    for (const write of writes) {
      await write()
      const forged = await revisionOf(b, 's1')
      await expect.poll(() => revisionOf(b, 's1')).toBeGreaterThan(forged)
      await expect.poll(() => a.sessions.mayWrite('s1')).toBe(true)
      expect(b.sessions.get('s1')).toMatchObject({ owner: 'a', epoch: 1, session: { lastSeq: 7 } })
    }
    expect([...b.sessions.all()].map(({ session }) => session.id)).toEqual(['s1'])
    expect([...a.fenced, ...b.fenced]).toEqual([])
    await expect(b.sessions.takeOver('s2')).rejects.toMatchObject({ code: 'session_not_found' })
  },
)

test(
  '17.7 an earlier record that somebody stores again after the loss of its host is not what another host goes on with',
  needs('nats-server'),
  async () => {
    const server = await startNats()
    const { clock, a, b } = await twoWithFrozen(server.url, testSession('s1', { onHostLoss: 'move' }))
    const early = await lastOf(b.cluster.nats, STREAM, `$KV.${SESSIONS_BUCKET}.s1`)
    await a.sessions.claim(testSession('s1', { onHostLoss: 'move', lastSeq: 7, permissionMode: 'deny-all' }))
    await expect.poll(() => b.sessions.get('s1')?.session.lastSeq).toBe(7)
    clock.freeze()
    await expect.poll(() => b.sessions.isReachable('s1'), { timeout: 3_000 }).toBe(false)
    const before = await revisionOf(b, 's1')
    await storeDamaged(server, early)
    expect(await revisionOf(b, 's1')).toBeGreaterThan(before)
    expect(await b.sessions.takeOver('s1')).toBe(2)
    expect(b.sessions.get('s1')).toMatchObject({
      owner: 'b',
      session: { lastSeq: 7, permissionMode: 'deny-all', movedFrom: 'a' },
    })
    // What it says is true: a gateway of this fleet has signed it.
    expect(b.problems).toEqual([expect.stringContaining('an earlier record of s1 after a later one')])
  },
)

test(
  '17.6 the sessions of a lost host are reported at once, and again when it is back',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const { clock, b } = await twoWithFrozen(url, testSession('s1'))
    const changes = b.sessions.changes()
    clock.freeze()
    expect(await changes.next()).toEqual(['s1'])
    expect(b.sessions.isReachable('s1')).toBe(false)
    clock.thaw()
    await expect.poll(() => b.sessions.isReachable('s1')).toBe(true)
    expect(await changes.next()).toEqual(['s1'])
    changes.close()
    expect(await changes.next()).toBeUndefined()
  },
)

test(
  '17.3 ten thousand sessions of another host are in the copy, and are listed while NATS is away',
  needs('nats-server'),
  async () => {
    const nats = await startNats()
    const [a, b] = await hostsOf(nats.url, 'a', 'b')
    const ids = Array.from({ length: 10_000 }, (_, i) => `s${i}`)
    for (const id of ids) a.sessions.keep(testSession(id))
    await expect.poll(() => [...b.sessions.all()].length, { timeout: 50_000, interval: 200 }).toBe(10_000)
    await nats.kill()
    // How fast is a figure of benches/fleet-list.mjs.
    expect(new Set([...b.sessions.all()].map(({ session }) => session.id))).toEqual(new Set(ids))
  },
)

async function hostsOf<const Names extends readonly string[]>(
  url: string,
  ...names: Names
): Promise<{ readonly [K in keyof Names]: TestHost }> {
  const hosts = await Promise.all(names.map((name) => joinHost(name, [url])))
  return hosts as { readonly [K in keyof Names]: TestHost }
}

/** The clock is that of `a`, which has the session. */
async function twoWithFrozen(
  url: string,
  session: ReturnType<typeof testSession>,
): Promise<{ readonly clock: FreezableClock; readonly a: TestHost; readonly b: TestHost }> {
  const clock = new FreezableClock()
  const a = await joinHost('a', [url], { clock, monotonic: clock.monotonic })
  const b = await joinHost('b', [url])
  await a.sessions.claim(session)
  await expect.poll(() => b.sessions.isReachable(session.id)).toBe(true)
  return { clock, a, b }
}

const STREAM = `KV_${SESSIONS_BUCKET}`

/** As a gateway that errs. */
const store = ({ cluster }: TestHost, id: string, body: string): Promise<unknown> =>
  storeSigned(cluster.nats, { stream: STREAM, subject: `$KV.${SESSIONS_BUCKET}.${id}`, body })

async function revisionOf({ cluster }: TestHost, id: string): Promise<number> {
  const bucket = await new Kvm(cluster.nats).open(SESSIONS_BUCKET, { allow_direct: false })
  return (await bucket.get(id))?.revision ?? 0
}
