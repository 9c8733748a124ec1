import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { LOG_STREAM } from '../src/subjects.js'
import { type LogHost, readAll, readSome, startLogHost } from './support/fleet-hosts.ts'
import { LocalLog } from './support/local-log.ts'
import { type NatsServer, startNats, startNatsCluster } from './support/nats-servers.ts'

const CHAOS_MS = 120_000

test(
  '17.4 the leader of three dies again and again while it stores: nothing is lost, repeated or reordered',
  { ...needs('nats-server'), timeout: CHAOS_MS },
  async () => {
    const seed = Number(process.env['FLEET_SEED'] ?? Date.now() % 1e6)
    const random = seeded(seed)
    const servers = await startNatsCluster()
    const urls = servers.map(({ url }) => url)
    const [owner, other] = [await startLogHost(urls, { replicas: 3 }), await startLogHost(urls, { replicas: 3 })]
    const logs = Array.from({ length: 6 }, (_, at) => new LocalLog(`s_${at}`))
    const publications = logs.map((log) => owner.publisher.publish(log.sessionId, log.follow))
    const stop = load(logs, random)
    const fromStart = logs.map(({ sessionId }) => readAll(other.log.follow(sessionId, 0)))
    for (let round = 0; round < 2; round += 1) {
      await grown(other, logs[0], 300)
      await disturb(servers, await leader(owner.nats), random)
    }
    const late = logs.map(({ sessionId }) => readAll(other.log.follow(sessionId, 100)))
    await grown(other, logs[0], 300)
    stop()
    for (const log of logs) log.end()
    for (const publication of publications)
      expect(await publication.done, `seed ${seed}`).toMatchObject({ type: 'complete' })
    const all = await Promise.all(fromStart)
    const rest = await Promise.all(late)
    for (const [at, log] of logs.entries()) {
      expect(differences(all[at], log.records), `seed ${seed}`).toEqual([])
      expect(differences(rest[at], log.records.slice(100)), `seed ${seed}`).toEqual([])
      expect(differences(await readAll(owner.log.follow(log.sessionId, 0)), log.records), `seed ${seed}`).toEqual([])
    }
    expect(owner.problems.concat(other.problems)).toEqual([])
  },
)

test(
  '17.4 while NATS is away a host reads no more of its logs, and then catches up in order',
  { ...needs('nats-server'), timeout: CHAOS_MS },
  async () => {
    const server = await startNats()
    const [owner, other] = [await startLogHost([server.url]), await startLogHost([server.url])]
    const logs = Array.from({ length: 20 }, (_, at) => new LocalLog(`s_${at}`))
    const publications = logs.map((log) => owner.publisher.publish(log.sessionId, log.follow))
    const readers = logs.map(({ sessionId }) => readAll(other.log.follow(sessionId, 0)))
    for (const log of logs) log.append(50)
    expect(await owner.publisher.drain(30_000)).toBe(true)
    await server.kill()
    for (let batch = 0; batch < 50; batch += 1) for (const log of logs) log.append(100)
    // One batch of each is in hand; nothing else was taken from the logs.
    await expect.poll(() => owner.publisher.lag).toBe(20 * 5_000)
    const before = logs.map(({ batchesRead }) => batchesRead)
    expect(await owner.publisher.drain(3_000)).toBe(false)
    expect(logs.map(({ batchesRead }, at) => batchesRead - (before[at] ?? 0)).every((read) => read === 0)).toBe(true)
    await server.start()
    for (const log of logs) log.end()
    for (const publication of publications)
      expect(await publication.done).toMatchObject({ type: 'complete', lastSeq: 5_050 })
    for (const [at, read] of (await Promise.all(readers)).entries())
      expect(differences(read, logs[at]?.records ?? [])).toEqual([])
    expect(owner.publisher.lag).toBe(0)
  },
)

test('17.4 a frozen server is left for another one', { ...needs('nats-server'), timeout: CHAOS_MS }, async () => {
  const servers = await startNatsCluster()
  const urls = servers.map(({ url }) => url)
  const owner = await startLogHost(urls, { replicas: 3 })
  const other = await startLogHost(urls.toReversed(), { replicas: 3 })
  const log = new LocalLog('s_1')
  const publication = owner.publisher.publish('s_1', log.follow)
  const reader = other.log.follow('s_1', 0)
  log.append(100)
  await readSome(reader, 100)
  const frozen = await leader(owner.nats)
  servers[frozen]?.freeze()
  onTestFinished(() => servers[frozen]?.thaw())
  log.append(100)
  expect(await readSome(reader, 100)).toEqual(log.records.slice(100))
  servers[frozen]?.thaw()
  log.append(100)
  log.end()
  expect(await readAll(reader)).toEqual(log.records.slice(200))
  expect(await publication.done).toEqual({ type: 'complete', lastSeq: 300 })
})

/** Appends to all logs, some events at a time. @returns stops it */
function load(logs: readonly LocalLog[], random: () => number): () => void {
  const timer = setInterval(() => {
    for (const log of logs) if (log.lastSeq < 200_000) log.append(Math.floor(random() * 20))
  }, 5)
  onTestFinished(() => clearInterval(timer))
  return () => clearInterval(timer)
}

/** Resolves when the fleet's log has so many more events. */
async function grown(host: LogHost, log: LocalLog | undefined, more: number): Promise<void> {
  if (log === undefined) return
  const before = await lastSeq()
  await expect.poll(lastSeq, { timeout: 30_000 }).toBeGreaterThan(before + more)
  function lastSeq(): Promise<number> {
    return host.log.lastSeq(log?.sessionId ?? '').catch(() => 0)
  }
}

/** Kills the leader mostly, else any; it starts again at once. */
async function disturb(servers: readonly NatsServer[], leading: number, random: () => number): Promise<void> {
  const chosen = servers[random() < 0.7 ? leading : Math.floor(random() * servers.length)]
  await chosen?.kill()
  await chosen?.start()
}

/** Which of the servers leads the stream. */
async function leader(nats: NatsConnection): Promise<number> {
  let name: string | undefined
  await expect
    .poll(
      async () => {
        const { streams } = await jetstreamManager(nats, { checkAPI: false })
        name = await streams.info(LOG_STREAM).then(
          ({ cluster }) => cluster?.leader,
          () => undefined,
        )
        return name
      },
      { timeout: 30_000 },
    )
    .toMatch(/^n\d$/)
  return Number(name?.slice(1))
}

/** The first places where what was read differs, so that a failure says little but enough. */
function differences(read: readonly unknown[] | undefined, wanted: readonly unknown[]): readonly unknown[] {
  const found = read ?? []
  const at = Array.from({ length: Math.max(found.length, wanted.length) }, (_, i) => i)
  return at
    .filter((i) => JSON.stringify(found[i]) !== JSON.stringify(wanted[i]))
    .slice(0, 3)
    .map((i) => ({ at: i, found: found[i] ?? 'nothing', wanted: wanted[i] ?? 'nothing' }))
}

/** The same numbers from 0 to 1 for the same seed. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}
