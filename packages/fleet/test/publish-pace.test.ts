import { jetstreamManager } from '@nats-io/jetstream'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { ManualClock } from '../../session-registry/test/fixtures/manual-clock.ts'
import { LOG_STREAM, logSubject } from '../src/subjects.ts'
import { type LogHost, readAll, readSome, startLogHost } from './support/fleet-hosts.ts'
import { LocalLog } from './support/local-log.ts'
import { startNats } from './support/nats-servers.ts'

test('17.F a log that grows by little is published in one message each 50 ms', needs('nats-server'), async () => {
  const { host, clock } = await startPaced()
  const local = new LocalLog('s_1')
  const reader = host.log.follow('s_1', 0)
  local.append(1)
  host.publisher.publish('s_1', local.follow)
  expect(await readSome(reader, 1)).toEqual(local.records)
  await waiting(clock)
  for (let prompt = 0; prompt < 5; prompt += 1) local.append(3)
  await clock.advance(49)
  await oneRoundTrip(host)
  expect(local.batchesRead).toBe(1)
  expect(host.publisher.lag).toBe(15)
  await clock.advance(1)
  expect(await readSome(reader, 15)).toEqual(local.records.slice(1))
  expect(await messagesOf(host, 's_1')).toBe(2)
})

test('17.F the first events after a rest do not wait', needs('nats-server'), async () => {
  const { host, clock } = await startPaced()
  const local = new LocalLog('s_1')
  const reader = host.log.follow('s_1', 0)
  host.publisher.publish('s_1', local.follow)
  for (let rest = 0; rest < 3; rest += 1) {
    local.append(2)
    expect(await readSome(reader, 2)).toHaveLength(2)
    await waiting(clock)
    await clock.advance(50)
  }
})

test('17.F a log that is far behind is published without rests', needs('nats-server'), async () => {
  const { host, clock } = await startPaced()
  const local = new LocalLog('s_1')
  local.append(10_000)
  const reader = host.log.follow('s_1', 0)
  host.publisher.publish('s_1', local.follow)
  expect(await readSome(reader, 9 * 1_024)).toEqual(local.records.slice(0, 9 * 1_024))
  await waiting(clock)
  await clock.advance(50)
  expect(await readSome(reader, 10_000 - 9 * 1_024)).toEqual(local.records.slice(9 * 1_024))
})

test('17.F what waits is published at once when a gateway leaves its fleet', needs('nats-server'), async () => {
  const { host, clock } = await startPaced()
  const logs = ['s_1', 's_2', 's_3'].map((id) => new LocalLog(id))
  for (const log of logs) {
    log.append(1)
    host.publisher.publish(log.sessionId, log.follow)
  }
  await expect.poll(() => host.publisher.lag).toBe(0)
  await waiting(clock)
  for (const log of logs) {
    log.append(7)
    log.end()
  }
  expect(await host.publisher.drain(10_000)).toBe(true)
  for (const log of logs) expect(await readAll(host.log.follow(log.sessionId, 0))).toEqual(log.records)
})

test('17.F a publication that waits closes at once, and leaves no timer', needs('nats-server'), async () => {
  const { host, clock } = await startPaced()
  const local = new LocalLog('s_1')
  local.append(1)
  const publication = host.publisher.publish('s_1', local.follow)
  await waiting(clock)
  await publication.close()
  expect(await publication.done).toEqual({ type: 'closed' })
  expect(clock.pending).toBe(0)
})

test('17.F the sessions of a host are published at the same beat', needs('nats-server'), async () => {
  const { host, clock } = await startPaced()
  const logs = Array.from({ length: 20 }, (_, at) => new LocalLog(`s_${at}`))
  for (const log of logs) {
    log.append(1)
    host.publisher.publish(log.sessionId, log.follow)
  }
  await expect.poll(() => logs.every(({ batchesRead }) => batchesRead === 1) && host.publisher.lag === 0).toBe(true)
  expect(clock.pending).toBe(1)
})

interface Paced {
  readonly host: LogHost
  readonly clock: ManualClock
}

async function startPaced(): Promise<Paced> {
  const { url } = await startNats()
  const clock = new ManualClock()
  return { host: await startLogHost([url], { clock }), clock }
}

/** Until a publication waits for its time. */
const waiting = (clock: ManualClock): Promise<void> => expect.poll(() => clock.pending).toBe(1)

/** What was sent before has arrived. */
async function oneRoundTrip({ nats }: LogHost): Promise<void> {
  await nats.flush()
}

async function messagesOf({ nats }: LogHost, sessionId: string): Promise<number> {
  const { streams } = await jetstreamManager(nats)
  const subject = logSubject(sessionId)
  const { state } = await streams.info(LOG_STREAM, { subjects_filter: subject })
  return state.subjects?.[subject] ?? 0
}
