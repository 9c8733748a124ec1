import { AgentprotoError, systemClock } from '@agentproto/contracts'
import type { LostSession } from '@agentproto/contracts/agent'
import { jetstreamManager } from '@nats-io/jetstream'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { plainMoves } from '../../session-registry/test/fixtures/plain-moves.ts'
import { FleetLog } from '../src/log/fleet-log.ts'
import { LogPublisher } from '../src/log/log-publisher.ts'
import { openLogStream } from '../src/log/log-stream.ts'
import { LostHosts } from '../src/lost-hosts.ts'
import { LocalLog } from './support/local-log.ts'
import { startNats } from './support/nats-servers.ts'
import { HOSTS_BUCKET } from '../src/subjects.ts'
import { DETAILS, FreezableClock, joinHost, type TestHost, testSession } from './support/test-host.ts'

test(
  '17.6 the sessions of a lost host that may move go on at exactly one other host each; the others wait',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const { clock, a } = await ownerWith(url, ['m0', 'm1', 'm2', 'm3', 'm4', 'm5'])
    await a.sessions.claim(testSession('waits'))
    await a.sessions.claim(testSession('over', { onHostLoss: 'move', status: 'exited', state: 'ended' }))
    const movers = await Promise.all(['b', 'c'].map(async (name) => mover(await joinHost(name, [url]))))
    clock.freeze()
    await expect.poll(() => movers.flatMap(({ taken }) => taken).length, { timeout: 20_000 }).toBe(6)
    await settled(movers)
    expect(movers.flatMap(({ taken }) => taken.map(({ session }) => session.id)).toSorted()).toEqual([
      'm0',
      'm1',
      'm2',
      'm3',
      'm4',
      'm5',
    ])
    for (const { taken, host } of movers)
      for (const { session, from } of taken)
        expect({ session, from }).toMatchObject({ from: 'a', session: { movedFrom: 'a', hostId: host.hosts.host } })
    clock.thaw()
    await expect.poll(() => a.fenced.length).toBe(6)
    expect(a.sessions.mayRun('waits')).toBe(true)
  },
)

test('17.6 only a host that can go on with a session takes it', needs('nats-server'), async () => {
  const { url } = await startNats()
  const { clock } = await ownerWith(url, ['m0'])
  const b = await mover(await joinHost('b', [url]), { adapters: [] })
  const c = await mover(await joinHost('c', [url]))
  clock.freeze()
  await expect.poll(() => c.taken.length, { timeout: 10_000 }).toBe(1)
  expect(b.taken).toEqual([])
})

test('17.6 a host that is back in time keeps its sessions', needs('nats-server'), async () => {
  const { url } = await startNats()
  const { clock, a } = await ownerWith(url, ['m0'])
  const b = await mover(await joinHost('b', [url]))
  await expect.poll(() => b.host.sessions.get('m0')).toBeDefined()
  clock.freeze()
  await expect.poll(() => b.host.hosts.isReachable('a'), { timeout: 3_000 }).toBe(false)
  clock.thaw()
  await expect.poll(() => a.sessions.mayWrite('m0')).toBe(true)
  await settled([b])
  expect(b.taken).toEqual([])
  expect(a.fenced).toEqual([])
})

test(
  '17.6 a take that fails is tried again, and one that a crash left half done is finished at the next start',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const { clock } = await ownerWith(url, ['m0'])
    let fails = 2
    const b = await mover(await joinHost('b', [url]), {
      take: () => (fails-- > 0 ? Promise.reject(new AgentprotoError('storage_failed', 'full')) : Promise.resolve()),
    })
    clock.freeze()
    await expect.poll(() => b.taken.length, { timeout: 10_000 }).toBe(1)
    expect(b.problems).toEqual([
      expect.stringContaining('does not go on here'),
      expect.stringContaining('goes on here'),
    ])
    await b.lost.close()
    await b.host.close()
    const again = await mover(await joinHost('b', [url]))
    await expect.poll(() => again.taken.length).toBe(1)
    expect(again.taken[0]).toMatchObject({ from: 'a', session: { id: 'm0', movedFrom: 'a' } })
    expect(again.host.sessions.epochOf('m0')).toBe(2)
  },
)

test(
  '17.6 a take that fails here is tried again soon, though no host comes or goes',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const { clock } = await ownerWith(url, ['m0'])
    let fails = 6
    const seen = new Set<string>()
    const b = await mover(await joinHost('b', [url]), {
      isDeaf: true,
      take: ({ session }) => {
        seen.add(session.state)
        return fails-- > 0 ? Promise.reject(new AgentprotoError('storage_failed', 'full')) : Promise.resolve()
      },
    })
    clock.freeze()
    await expect.poll(() => b.taken.length, { timeout: 15_000 }).toBe(1)
    expect(b.problems).toHaveLength(2)
    expect(seen).toEqual(new Set(['unreachable']))
  },
)

test(
  '17.6 who takes a session gets its whole log and its last number; its earlier host, which still runs, adds nothing',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const { clock, a } = await ownerWith(url, ['m0'])
    const local = new LocalLog('m0')
    local.append(10)
    const publisher = new LogPublisher({
      cluster: a.cluster,
      clock: systemClock,
      // It does not know that its lease is over.
      epochOf: () => 1,
      mayWrite: () => true,
      onFenced: () => undefined,
      onProblem: () => undefined,
    })
    onTestFinished(() => publisher.close())
    const seen: number[] = []
    const b = await mover(await joinHost('b', [url]), {
      async take({ events }) {
        local.append(5)
        for await (const { records } of events) seen.push(...records.map(({ seq }) => seq))
      },
    })
    const publication = publisher.publish('m0', local.follow)
    expect(await publisher.drain(10_000)).toBe(true)
    clock.freeze()
    await expect.poll(() => b.taken.length, { timeout: 10_000 }).toBe(1)
    expect(b.taken[0]).toMatchObject({ session: { lastSeq: 0 }, lastSeq: 10 })
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(await publication.done).toEqual({ type: 'fenced', epoch: 2 })
  },
)

test('17.6 sessions of a host that was lost before this one started are taken too', needs('nats-server'), async () => {
  const { url } = await startNats()
  const { clock, a } = await ownerWith(url, ['m0'])
  clock.freeze()
  await a.cluster.close()
  const watcher = await joinHost('watcher', [url])
  // The server has forgotten the host: nothing but its sessions names it.
  const manager = await jetstreamManager(watcher.cluster.nats)
  await manager.streams.purge(`KV_${HOSTS_BUCKET}`, { filter: `$KV.${HOSTS_BUCKET}.a` })
  const b = await mover(await joinHost('b', [url]))
  expect(b.host.hosts.get('a')).toBeUndefined()
  await expect.poll(() => b.taken.length, { timeout: 10_000 }).toBe(1)
})

test('17.6 no host takes anything while NATS is away: every host looks lost then', needs('nats-server'), async () => {
  const server = await startNats()
  const { a } = await ownerWith(server.url, ['m0'])
  const b = await mover(await joinHost('b', [server.url]))
  await expect.poll(() => b.host.sessions.get('m0')).toBeDefined()
  await server.kill()
  await expect.poll(() => b.host.hosts.isReachable('a'), { timeout: 3_000 }).toBe(false)
  await expect.poll(() => a.hosts.term, { timeout: 3_000 }).toBeUndefined()
  await expect.poll(() => a.suspended).toEqual([['m0']])
  await server.start()
  await expect.poll(() => a.sessions.mayWrite('m0') || b.taken.length === 1, { timeout: 10_000 }).toBe(true)
  await settled([b])
  expect(Number(a.sessions.mayWrite('m0')) + b.taken.length).toBe(1)
})

interface Mover {
  readonly host: TestHost
  readonly lost: LostHosts
  readonly taken: readonly LostSession[]
  readonly problems: readonly string[]
}

interface Choices {
  readonly adapters?: readonly string[]
  /** It hears of no change of a host from its first take on. */
  readonly isDeaf?: true
  readonly take?: (lost: LostSession) => Promise<void>
}

/** A host that takes sessions. What it does with them is `runtime`'s to test. */
async function mover(
  host: TestHost,
  { adapters = ['demo'], isDeaf, take = () => Promise.resolve() }: Choices = {},
): Promise<Mover> {
  const taken: LostSession[] = []
  let attempts = 0
  const problems: string[] = []
  const { cluster, hosts, sessions } = host
  const onProblem = (problem: string): void => void problems.push(problem)
  await openLogStream({ cluster, onProblem })
  const shared = { cluster, clock: systemClock, onProblem }
  const log = new FleetLog(shared)
  const publisher = new LogPublisher({
    ...shared,
    epochOf: (id) => sessions.epochOf(id),
    mayWrite: (id) => sessions.mayWrite(id),
    onFenced: () => undefined,
  })
  const lost = new LostHosts({
    moves: {
      ...plainMoves,
      async takeOver(session) {
        attempts += 1
        await take(session)
        taken.push(session)
        return session.session
      },
    },
    hosts: {
      host: hosts.host,
      isReachable: (name) => hosts.isReachable(name),
      listen: ({ changed }) =>
        hosts.listen({ changed: (name) => (isDeaf && attempts > 0 ? undefined : changed?.(name)) }),
    },
    clock: systemClock,
    directory: sessions,
    publisher,
    log,
    own: () =>
      Promise.resolve({ ...DETAILS, adapters: [...adapters], name: hosts.host, reachable: true, lastSeen: NOW }),
    has: (id) => Promise.resolve(taken.some(({ session }) => session.id === id)),
    onTaken: () => undefined,
    onProblem,
  })
  onTestFinished(async () => {
    await lost.close()
    await publisher.close()
    log.close()
  })
  return { host, lost, taken, problems }
}

const NOW = '2026-11-23T00:00:00.000Z'

async function ownerWith(
  url: string,
  ids: readonly string[],
): Promise<{ readonly clock: FreezableClock; readonly a: TestHost }> {
  const clock = new FreezableClock()
  const a = await joinHost('a', [url], { clock, monotonic: clock.monotonic })
  await Promise.all(ids.map((id) => a.sessions.claim(testSession(id, { onHostLoss: 'move' }))))
  return { clock, a }
}

/** No take is under way any more: two looks find nothing. */
async function settled(movers: readonly Mover[]): Promise<void> {
  const { abandonedMs } = movers[0]?.host.hosts.times ?? { abandonedMs: 0 }
  const counts = movers.map(({ taken }) => taken.length)
  await new Promise((resolve) => setTimeout(resolve, abandonedMs + 200))
  expect(movers.map(({ taken }) => taken.length)).toEqual(counts)
}
