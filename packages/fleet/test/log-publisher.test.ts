import { setImmediate } from 'node:timers/promises'
import { AgentprotoError } from '@agentproto/contracts'
import { jetstreamManager } from '@nats-io/jetstream'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { logSubject } from '../src/subjects.js'
import { readAll, readSome, startLogHost } from './support/fleet-hosts.ts'
import { LocalLog } from './support/local-log.ts'
import { startNats } from './support/nats-servers.ts'

test('17.4 another host reads a log as it was stored, to its end', needs('nats-server'), async () => {
  const { url } = await startNats()
  const [owner, other] = [await startLogHost([url]), await startLogHost([url])]
  const local = new LocalLog('s_1')
  local.append(2_500)
  const reader = other.log.follow('s_1', 0)
  const publication = owner.publisher.publish('s_1', local.follow)
  expect(await readSome(reader, 2_500)).toEqual(local.records)
  local.append(10)
  expect(await readSome(reader, 10)).toEqual(local.records.slice(2_500))
  local.end()
  expect(await reader.next()).toBeUndefined()
  expect(await publication.done).toEqual({ type: 'complete', lastSeq: 2_510 })
  expect(await readAll(other.log.follow('s_1', 0))).toEqual(local.records)
  expect(await readAll(other.log.follow('s_1', 2_510))).toEqual([])
  expect(await other.log.lastSeq('s_1')).toBe(2_510)
  expect(await other.log.lastSeq('s_none')).toBe(0)
})

test('17.4 a publisher that starts again goes on where the log ends', needs('nats-server'), async () => {
  const { url } = await startNats()
  const local = new LocalLog('s_1')
  local.append(100)
  const first = await startLogHost([url])
  first.publisher.publish('s_1', local.follow)
  expect(await first.publisher.drain(10_000)).toBe(true)
  await first.publisher.close()
  local.append(100)
  const second = await startLogHost([url])
  second.publisher.publish('s_1', local.follow)
  expect(await second.publisher.drain(10_000)).toBe(true)
  expect(second.publisher.lag).toBe(0)
  local.end()
  expect(await readAll(second.log.follow('s_1', 0))).toEqual(local.records)
  const { streams } = await jetstreamManager(second.nats)
  expect((await streams.info('agentproto-log')).state.messages).toBe(3)
})

test('17.4 a session that goes on after its end is published further', needs('nats-server'), async () => {
  const { url } = await startNats()
  const host = await startLogHost([url])
  const local = new LocalLog('s_1')
  local.append(3)
  local.end()
  expect(await host.publisher.publish('s_1', local.follow).done).toMatchObject({ lastSeq: 3 })
  expect(await host.publisher.publish('s_1', local.follow).done).toMatchObject({ lastSeq: 3 })
  local.resume()
  local.append(3)
  local.end()
  expect(await host.publisher.publish('s_1', local.follow).done).toMatchObject({ lastSeq: 6 })
  expect(await readAll(host.log.follow('s_1', 0))).toEqual(local.records)
})

test('17.4 events above the payload limit are split, one that is larger in parts', needs('nats-server'), async () => {
  const { url } = await startNats()
  const [owner, other] = [await startLogHost([url]), await startLogHost([url])]
  const local = new LocalLog('s_1')
  local.append(3, () => 'ü'.repeat(200_000))
  local.append(1, () => '€'.repeat(3_000_000))
  local.append(3)
  local.end()
  expect(await owner.publisher.publish('s_1', local.follow).done).toMatchObject({ type: 'complete' })
  expect(await readAll(other.log.follow('s_1', 0))).toEqual(local.records)
  expect(await readAll(other.log.follow('s_1', 4))).toEqual(local.records.slice(4))
  expect(await readAll(other.log.follow('s_1', 3))).toEqual(local.records.slice(3))
})

test('17.4 lost events of a host are a gap for readers on others', needs('nats-server'), async () => {
  const { url } = await startNats()
  const host = await startLogHost([url])
  const local = new LocalLog('s_1')
  local.append(20)
  local.lose(5)
  local.end()
  await host.publisher.publish('s_1', local.follow).done
  expect(await readAll(host.log.follow('s_1', 0))).toEqual([{ after: 0, first: 6 }, ...local.records])
  expect(await host.log.read('s_1', 0, 3)).toEqual({ gap: { after: 0, first: 6 }, records: local.records.slice(0, 3) })
})

test('17.4 what retention has removed is a gap for readers', needs('nats-server'), async () => {
  const { url } = await startNats()
  const host = await startLogHost([url])
  const local = new LocalLog('s_1')
  host.publisher.publish('s_1', local.follow)
  for (let batch = 0; batch < 5; batch += 1) {
    local.append(10)
    await host.publisher.drain(10_000)
  }
  const { streams } = await jetstreamManager(host.nats)
  await streams.purge('agentproto-log', { filter: logSubject('s_1'), keep: 2 })
  local.end()
  expect(await readAll(host.log.follow('s_1', 0))).toEqual([{ after: 0, first: 31 }, ...local.records.slice(30)])
  expect(await readAll(host.log.follow('s_1', 35))).toEqual(local.records.slice(35))
})

test('17.4 a log that retention has emptied is not published again', needs('nats-server'), async () => {
  const { url } = await startNats()
  const host = await startLogHost([url])
  const local = new LocalLog('s_1')
  local.append(10)
  const publication = host.publisher.publish('s_1', local.follow)
  await host.publisher.drain(10_000)
  const { streams } = await jetstreamManager(host.nats)
  await streams.purge('agentproto-log', { filter: logSubject('s_1') })
  local.append(10)
  local.end()
  expect(await publication.done).toEqual({ type: 'complete', lastSeq: 20 })
  expect(await readAll(host.log.follow('s_1', 0))).toEqual([{ after: 0, first: 11 }, ...local.records.slice(10)])
})

test('17.4 pages of a log end where they should', needs('nats-server'), async () => {
  const { url } = await startNats()
  const host = await startLogHost([url])
  const local = new LocalLog('s_1')
  const publication = host.publisher.publish('s_1', local.follow)
  for (let batch = 0; batch < 20; batch += 1) {
    local.append(7)
    await host.publisher.drain(10_000)
  }
  for (const after of [0, 1, 6, 7, 8, 70, 133, 139])
    expect((await host.log.read('s_1', after, 5)).records).toEqual(local.records.slice(after, after + 5))
  expect(await host.log.read('s_1', 140, 5)).toEqual({ records: [] })
  expect(await host.log.read('s_1', 500, 5)).toEqual({ records: [] })
  await publication.close()
})

test('17.4 the log of a forgotten session is removed, and its readers end', needs('nats-server'), async () => {
  const { url } = await startNats()
  const host = await startLogHost([url])
  const local = new LocalLog('s_1')
  local.append(10)
  const publication = host.publisher.publish('s_1', local.follow)
  const reader = host.log.follow('s_1', 0)
  await readSome(reader, 10)
  await publication.close()
  const waiting = reader.next()
  await host.log.remove('s_1')
  expect(await waiting).toBeUndefined()
  expect(await host.log.lastSeq('s_1')).toBe(0)
})

test(
  '17.4 a session that its host deletes while its log is published ends that without a problem',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const host = await startLogHost([url])
    const deleted = () => Promise.reject(new AgentprotoError('session_not_found', 'There is no such session'))
    expect(await host.publisher.publish('s_1', deleted).done).toEqual({ type: 'closed' })
    expect(host.problems).toEqual([])
  },
)

test('17.4 a session that is forgotten while its log is read ends the reading', needs('nats-server'), async () => {
  const { url } = await startNats()
  const host = await startLogHost([url])
  const local = new LocalLog('s_1')
  for (let batch = 0; batch < 20; batch += 1) {
    local.append(7)
    if (batch === 0) host.publisher.publish('s_1', local.follow)
    await host.publisher.drain(10_000)
  }
  const [page, whole] = [host.log.read('s_1', 0, 1_000), all(host.log.batches('s_1', 0))]
  const forgotten = Promise.allSettled([page, whole])
  let isRead = false
  void forgotten.then(() => (isRead = true))
  while (!isRead) {
    host.log.endReaders('s_1')
    await setImmediate()
  }
  expect((await page).records.length).toBeLessThan(140)
  await expect(whole).rejects.toMatchObject({ code: 'cluster_unavailable' })
  expect((await all(host.log.batches('s_1', 0))).flatMap(({ records }) => records)).toEqual(local.records)
})

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

test('17.4 readers leave no consumer in the server', needs('nats-server'), async () => {
  const { url } = await startNats()
  const host = await startLogHost([url])
  const local = new LocalLog('s_1')
  local.append(10)
  host.publisher.publish('s_1', local.follow)
  const readers = Array.from({ length: 20 }, () => host.log.follow('s_1', 0))
  await Promise.all(readers.map((reader) => readSome(reader, 10)))
  const { streams } = await jetstreamManager(host.nats)
  const consumers = async (): Promise<number> => (await streams.info('agentproto-log')).state.consumer_count
  expect(await consumers()).toBe(20)
  for (const reader of readers) reader.close()
  await expect.poll(consumers).toBe(0)
})

test('17.4 an aborted call of a reader loses nothing', needs('nats-server'), async () => {
  const { url } = await startNats()
  const host = await startLogHost([url])
  const local = new LocalLog('s_1')
  const reader = host.log.follow('s_1', 0)
  const aborting = new AbortController()
  const waiting = reader.next(aborting.signal)
  aborting.abort()
  expect(await waiting).toBeUndefined()
  host.publisher.publish('s_1', local.follow)
  local.append(10)
  expect(await readSome(reader, 10)).toEqual(local.records)
})

test('17.4 what is drained before a host leaves has the end of its sessions', needs('nats-server'), async () => {
  const { url } = await startNats()
  const [owner, other] = [await startLogHost([url]), await startLogHost([url])]
  const logs = Array.from({ length: 20 }, (_, at) => new LocalLog(`s_${at}`))
  for (const log of logs) owner.publisher.publish(log.sessionId, log.follow)
  for (const log of logs) {
    log.append(5)
    log.end()
  }
  expect(await owner.publisher.drain(10_000)).toBe(true)
  await owner.publisher.close()
  for (const log of logs) expect(await readAll(other.log.follow(log.sessionId, 0))).toEqual(log.records)
})

test('17.4 a publisher whose server is frozen ends in time', needs('nats-server'), async () => {
  const server = await startNats()
  const host = await startLogHost([server.url])
  const local = new LocalLog('s_1')
  local.append(5)
  const publication = host.publisher.publish('s_1', local.follow)
  await host.publisher.drain(10_000)
  server.freeze()
  const { outMsgs } = host.nats.stats()
  local.append(5)
  await expect.poll(() => host.nats.stats().outMsgs).toBeGreaterThan(outMsgs)
  let isAnswered = false
  void publication.done.then(() => (isAnswered = true))
  await host.publisher.close()
  // What is on its way is not waited for to its end.
  expect(isAnswered).toBe(false)
  server.thaw()
  expect(await publication.done).toEqual({ type: 'closed' })
})

test('17.4 a session with very much to publish does not hold up the others', needs('nats-server'), async () => {
  const { url } = await startNats()
  const host = await startLogHost([url])
  const large = new LocalLog('s_large')
  large.append(200_000)
  const flood = host.publisher.publish('s_large', large.follow)
  const small = Array.from({ length: 100 }, (_, at) => new LocalLog(`s_${at}`))
  for (const log of small) {
    log.append(2)
    log.end()
  }
  const ends = small.map((log) => host.publisher.publish(log.sessionId, log.follow).done)
  for (const end of await Promise.all(ends)) expect(end).toEqual({ type: 'complete', lastSeq: 2 })
  expect(flood.behind).toBeGreaterThan(0)
  await flood.close()
})
