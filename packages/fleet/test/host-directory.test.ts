import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { expect, test, vi } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { ABSENT, Bucket } from '../src/cluster/bucket.ts'
import { HOSTS_BUCKET } from '../src/subjects.ts'
import { lastOf, storeAgain, storeSigned } from './support/stored.ts'
import { startNats, startNatsCluster } from './support/nats-servers.ts'
import { FreezableClock, joinHost } from './support/test-host.ts'

test('17.1 hosts see each other, with what each says of itself', needs('nats-server'), async () => {
  const { url } = await startNats()
  const [a, b] = await Promise.all([joinHost('a', [url]), joinHost('b', [url])])
  await expect.poll(() => a.hosts.hosts().map(({ record }) => record.host)).toEqual(['a', 'b'])
  expect(b.hosts.get('a')).toMatchObject({
    isReachable: true,
    isSelf: false,
    record: { adapters: ['demo'], freeSessions: 10 },
  })
  expect(a.hosts.get('a')).toMatchObject({ isReachable: true, isSelf: true })
  expect(a.hosts.term).toBeDefined()
})

test(
  '17.6 a host that is not heard from is unreachable at once when its lease has passed, and reported',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const clock = new FreezableClock()
    const [a, b] = await Promise.all([joinHost('a', [url], { clock }), joinHost('b', [url])])
    await expect.poll(() => b.hosts.isReachable('a')).toBe(true)
    const changed = vi.fn<(host: string) => void>()
    b.hosts.listen({ changed })
    clock.freeze()
    await expect.poll(() => b.hosts.isReachable('a'), { timeout: 3_000 }).toBe(false)
    await expect.poll(() => changed.mock.calls).toContainEqual(['a'])
    expect(b.hosts.get('a')?.lastSeen).toBeLessThanOrEqual(Date.now() - 600)
    clock.thaw()
    await expect.poll(() => b.hosts.isReachable('a')).toBe(true)
    expect(a.hosts.term).toBeDefined()
  },
)

test('17.3 a host that was frozen has lost its lease before it acts', needs('nats-server'), async () => {
  const { url } = await startNats()
  const clock = new FreezableClock()
  const { hosts } = await joinHost('a', [url], { clock, monotonic: clock.monotonic })
  const before = hosts.term
  clock.freeze()
  clock.jump(10_000)
  // No timer has run: the question itself compares the clocks.
  expect(hosts.term).toBeUndefined()
  const joined = vi.fn<(term: string) => void>()
  const lost = vi.fn<() => void>()
  hosts.listen({ joined, lost })
  clock.thaw()
  await expect.poll(() => hosts.term).toBeDefined()
  expect(hosts.term).not.toBe(before)
  expect(lost).toHaveBeenCalledOnce()
  expect(joined).toHaveBeenCalledExactlyOnceWith(hosts.term)
})

test.each([
  ['the monotonic clock stands still, as while a laptop sleeps', { wall: 10_000, monotonic: 0 }],
  ['the wall clock is set back', { wall: -10_000, monotonic: 10_000 }],
])('17.3 a lease ends also when %s', needs('nats-server'), async (_, passed) => {
  const { url } = await startNats()
  const clock = new FreezableClock()
  let jumped = { wall: 0, monotonic: 0 }
  const skewed = { now: () => Date.now() + jumped.wall, after: clock.after.bind(clock) }
  const { hosts } = await joinHost('a', [url], { clock: skewed, monotonic: () => performance.now() + jumped.monotonic })
  clock.freeze()
  jumped = passed
  expect(hosts.term).toBeUndefined()
})

test(
  '17.3 a second gateway with the same host name is rejected, and the first keeps its lease',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const { hosts } = await joinHost('a', [url])
    const { term } = hosts
    await expect(joinHost('a', [url])).rejects.toMatchObject({ code: 'host_name_in_use' })
    expect(hosts.term).toBe(term)
  },
)

test('17.3 a gateway that was killed gets its name back when its lease has ended', needs('nats-server'), async () => {
  const { url } = await startNats()
  const clock = new FreezableClock()
  const killed = await joinHost('a', [url], { clock })
  clock.freeze()
  await killed.cluster.close()
  const begun = performance.now()
  const next = await joinHost('a', [url])
  await expect.poll(() => next.hosts.term, { timeout: 5_000 }).toBeDefined()
  expect(performance.now() - begun).toBeGreaterThan(1_200)
})

test('17.3 a gateway that left gets its name back at once', needs('nats-server'), async () => {
  const { url } = await startNats()
  const first = await joinHost('a', [url], { leaseMs: LEASE_MS })
  await first.close()
  const begun = performance.now()
  const next = await joinHost('a', [url], { leaseMs: LEASE_MS })
  expect(next.hosts.term).toBeDefined()
  expect(performance.now() - begun).toBeLessThan(LEASE_MS)
})

/** A gateway that waits for the lease of another run waits for three of these. */
const LEASE_MS = 10_000

/** A gateway that was killed: what it had stored last stays, and nothing follows. */
async function killedHost(
  url: string,
  leaseMs = LEASE_MS,
): Promise<{ readonly clock: FreezableClock; readonly run: string }> {
  const clock = new FreezableClock()
  const runs = { own: 'r_killed', hasEnded: () => false }
  const killed = await joinHost('a', [url], { clock, leaseMs, runs })
  expect(killed.hosts.get('a')?.record.run).toBe('r_killed')
  clock.freeze()
  await killed.cluster.close()
  return { clock, run: runs.own }
}

test('17.3 the next run of a gateway that has surely ended joins at once', needs('nats-server'), async () => {
  const { url } = await startNats()
  const { run } = await killedHost(url)
  const begun = performance.now()
  const next = await joinHost('a', [url], {
    leaseMs: LEASE_MS,
    runs: { own: 'r_next', hasEnded: (each) => each === run },
  })
  expect(next.hosts.term).toBeDefined()
  expect(performance.now() - begun).toBeLessThan(LEASE_MS)
  expect(next.problems).toEqual([])
})

test(
  '17.3 one more heartbeat of the ended run, which NATS stores late, is not taken for a gateway that lives',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const { run } = await killedHost(url)
    const b = await joinHost('b', [url], { leaseMs: 10_000 })
    const late = { ...b.hosts.get('a')?.record, lag: 7 }
    const store = (): Promise<unknown> =>
      storeSigned(b.cluster.nats, {
        stream: `KV_${HOSTS_BUCKET}`,
        subject: `$KV.${HOSTS_BUCKET}.a`,
        body: JSON.stringify(late),
      })
    let storing: Promise<unknown> | undefined
    let isStored = false
    const hasEnded = (each: string): boolean => {
      storing ??= store().then(() => (isStored = true))
      return isStored && each === run
    }
    const next = await joinHost('a', [url], { leaseMs: 10_000, runs: { own: 'r_next', hasEnded } })
    expect(next.hosts.term).toBeDefined()
    expect(next.problems).toEqual([])
  },
)

test(
  '17.3 a run that ends while its lease is waited for is not waited for any longer, and one that is not known is',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const { run } = await killedHost(url, 2_400)
    let isEnded = false
    const begun = performance.now()
    const runs = { own: 'r_next', hasEnded: (each: string) => isEnded && each === run }
    const next = await joinHost('a', [url], { leaseMs: 2_400, runs })
    expect(next.hosts.term).toBeUndefined()
    expect(performance.now() - begun).toBeGreaterThan(2_300)
    isEnded = true
    const ended = performance.now()
    await expect.poll(() => next.hosts.term).toBeDefined()
    // It would be waited for twice as long.
    expect(performance.now() - ended).toBeLessThan(2_400)
  },
)

test('17.3 a gateway that lives is not replaced by what is known of another run', needs('nats-server'), async () => {
  const { url } = await startNats()
  const { hosts } = await joinHost('a', [url])
  const { term } = hosts
  const runs = { own: 'r_next', hasEnded: (each: string) => each === 'r_another' }
  await expect(joinHost('a', [url], { runs })).rejects.toMatchObject({ code: 'host_name_in_use' })
  expect(hosts.term).toBe(term)
})

test('17.3 a host that left is gone for the others', needs('nats-server'), async () => {
  const { url } = await startNats()
  const [a, b] = await Promise.all([joinHost('a', [url]), joinHost('b', [url])])
  await expect.poll(() => b.hosts.isReachable('a')).toBe(true)
  expect(b.hosts.get('a')?.hasLeft).toBe(false)
  await a.close()
  await expect.poll(() => b.hosts.isReachable('a')).toBe(false)
  expect(b.hosts.get('a')?.hasLeft).toBe(true)
  await joinHost('a', [url])
  await expect.poll(() => b.hosts.isReachable('a')).toBe(true)
  expect(b.hosts.get('a')?.hasLeft).toBe(false)
})

test('17.3 a host whose heartbeat the server has forgotten has not left', needs('nats-server'), async () => {
  const server = await startNats()
  const clock = new FreezableClock()
  const [a, b] = [await joinHost('a', [server.url], { clock }), await joinHost('b', [server.url])]
  await expect.poll(() => b.hosts.isReachable('a')).toBe(true)
  clock.freeze()
  await a.cluster.close()
  const bucket = await new Kvm(b.cluster.nats).open(HOSTS_BUCKET)
  await expect.poll(async () => (await bucket.get('a')) === null, { timeout: 10_000 }).toBe(true)
  await server.kill()
  await server.start()
  // What is seen of another host was listed again, without this one.
  await joinHost('c', [server.url])
  await expect.poll(() => b.hosts.isReachable('c'), { timeout: 10_000 }).toBe(true)
  expect(b.hosts.get('a')).toMatchObject({ isReachable: false, hasLeft: false })
})

test('17.3 a fleet with another lease is said', needs('nats-server'), async () => {
  const { url } = await startNats()
  await joinHost('a', [url], { leaseMs: 900 })
  await expect(joinHost('b', [url])).rejects.toMatchObject({
    code: 'cluster_unsupported',
    message: expect.stringContaining('same lease') as string,
  })
})

test(
  '17.3 an evicted host is out of its term, whatever it believes, and joins again in a new one',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const clock = new FreezableClock()
    const [a, b] = await Promise.all([
      joinHost('a', [url], { clock, monotonic: clock.monotonic }),
      joinHost('b', [url]),
    ])
    await expect.poll(() => b.hosts.isReachable('a')).toBe(true)
    const { term } = a.hosts
    clock.freeze()
    const begun = performance.now()
    expect(await b.hosts.evict('a')).toBe(false)
    await expect.poll(() => b.hosts.isReachable('a')).toBe(false)
    expect(await b.hosts.evict('a')).toBe(true)
    expect(b.hosts.get('a')?.hasLeft).toBe(false)
    expect(performance.now() - begun).toBeGreaterThan(1_500)
    expect(a.hosts.term).toBeUndefined()
    clock.thaw()
    await expect.poll(() => a.hosts.term).toBeDefined()
    expect(a.hosts.term).not.toBe(term)
    expect(await b.hosts.evict('a')).toBe(false)
  },
)

test('17.3 what is not a heartbeat is ignored, and said', needs('nats-server'), async () => {
  const { url } = await startNats()
  const { hosts, cluster, problems } = await joinHost('a', [url])
  const store = (key: string, body: string): Promise<unknown> =>
    storeSigned(cluster.nats, { stream: `KV_${HOSTS_BUCKET}`, subject: `$KV.${HOSTS_BUCKET}.${key}`, body })
  for (const [key, value] of Object.entries(CRAFTED)) await store(key, value)
  await store('good', JSON.stringify({ ...hosts.get('a')?.record, host: 'good' }))
  await expect.poll(() => hosts.get('good')).toBeDefined()
  expect(hosts.hosts().map(({ record }) => record.host)).toEqual(['a', 'good'])
  expect(problems.filter((problem) => problem.includes('not a record'))).toHaveLength(Object.keys(CRAFTED).length)
})

test(
  '17.R2 a client without the key of the fleet cannot end a lease, evict a host, or show one that is not there',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const [a, b] = [await joinHost('a', [url]), await joinHost('b', [url])]
    const { term } = a.hosts
    const record = a.hosts.get('a')?.record
    const bucket = await new Kvm(b.cluster.nats).open(HOSTS_BUCKET)
    await bucket.put('ghost', JSON.stringify({ ...record, host: 'ghost' }))
    await bucket.put('__proto__', JSON.stringify({ ...record, host: '__proto__' }))
    const before = await lastOf(b.cluster.nats, `KV_${HOSTS_BUCKET}`, `$KV.${HOSTS_BUCKET}.a`)
    const writes = [
      () => bucket.put('a', 'x'),
      () => bucket.put('a', JSON.stringify({ host: 'a', evictedBy: 'b', lapsed: true })),
      () => bucket.put('a', JSON.stringify({ ...record, run: 'another', term: 'another' })),
      () => bucket.delete('a'),
      () => storeAgain(b.cluster.nats, before),
    ]
    for (const write of writes) {
      await write()
      const { revision = 0 } = (await bucket.get('a')) ?? {}
      await expect.poll(async () => (await bucket.get('a'))?.revision ?? 0).toBeGreaterThan(revision)
      expect(a.hosts.term).toBe(term)
      expect(b.hosts.isReachable('a')).toBe(true)
    }
    expect(a.suspended).toEqual([])
    expect(b.hosts.hosts().map((host) => host.record.host)).toEqual(['a', 'b'])
  },
)

test(
  '17.3 an eviction that another client stores again ends no later term, and no host believes it',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const clock = new FreezableClock()
    const [a, b] = await Promise.all([
      joinHost('a', [url], { clock, monotonic: clock.monotonic }),
      joinHost('b', [url]),
    ])
    await expect.poll(() => b.hosts.isReachable('a')).toBe(true)
    clock.freeze()
    await expect.poll(() => b.hosts.isReachable('a')).toBe(false)
    expect(await b.hosts.evict('a')).toBe(true)
    // With its signature and all of its headers.
    const eviction = await lastOf(b.cluster.nats, `KV_${HOSTS_BUCKET}`, `$KV.${HOSTS_BUCKET}.a`)
    clock.thaw()
    await expect.poll(() => a.hosts.term).toBeDefined()
    await expect.poll(() => b.hosts.isReachable('a')).toBe(true)
    const { term } = a.hosts
    const bucket = await new Kvm(b.cluster.nats).open(HOSTS_BUCKET)
    for (let times = 0; times < 3; times += 1) {
      await storeAgain(b.cluster.nats, eviction)
      const { revision = 0 } = (await bucket.get('a')) ?? {}
      await expect.poll(async () => (await bucket.get('a'))?.revision ?? 0).toBeGreaterThan(revision)
      expect(a.hosts.term).toBe(term)
      expect(b.hosts.isReachable('a')).toBe(true)
      expect(await b.hosts.evict('a')).toBe(false)
    }
    expect(a.suspended).toHaveLength(1)
  },
)

const CRAFTED = {
  text: 'hello',
  list: '[]',
  other: '{"host":"a","run":"r","term":"t"}',
  proto: '{"__proto__":{"host":"proto"},"host":"proto"}',
  deep: `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
  large: JSON.stringify({ host: 'large', run: 'r'.repeat(400_000) }),
}

test('17.3 a host with the default lease keeps it while NATS elects another leader', needs('nats-server'), async () => {
  const servers = await startNatsCluster()
  const { hosts, cluster } = await joinHost(
    'a',
    servers.map(({ url }) => url),
    { leaseMs: 10_000 },
  )
  const { term } = hosts
  const manager = await jetstreamManager(cluster.nats)
  const { cluster: group } = await manager.streams.info(`KV_${HOSTS_BUCKET}`)
  const lost = vi.fn<() => void>()
  hosts.listen({ lost })
  const before = hosts.get('a')?.lastSeen ?? 0
  await servers[Number(group?.leader?.slice(1))]?.kill()
  // Two heartbeats after it, the first of which may have been under way.
  await expect.poll(() => hosts.get('a')?.lastSeen, { timeout: 45_000 }).toBeGreaterThan(before + 7_000)
  expect(lost).not.toHaveBeenCalled()
  expect(hosts.term).toBe(term)
})

test(
  '17.3 a process that is busy for a while does not take it for a loss of messages',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const { hosts, cluster, problems } = await joinHost('a', [url])
    const ttlMs = hosts.times.forgottenMs
    const bucket = await Bucket.open(cluster, { name: HOSTS_BUCKET, ttlMs, onProblem: () => {} })
    const record = hosts.get('a')?.record
    let revisions: readonly (number | undefined)[] = Array.from({ length: 20 }, () => ABSENT)
    for (let lag = 0; lag < 12; lag++) {
      const written = revisions.map((revision = ABSENT, at) => {
        const host = `other${at}`
        return bucket.write(host, { ...record, host, lag }, revision)
      })
      for (const until = performance.now() + 130; performance.now() < until;);
      revisions = await Promise.all(written)
    }
    await expect.poll(() => hosts.get('other19')?.record.lag).toBe(11)
    expect(problems).toEqual([])
  },
)

test('17.3 closing leaves no timer', needs('nats-server'), async () => {
  const { url } = await startNats()
  const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
  const before = timers()
  const host = await joinHost('a', [url])
  await host.close()
  await new Promise((resolve) => setImmediate(resolve))
  expect(timers()).toBeLessThanOrEqual(before)
})
