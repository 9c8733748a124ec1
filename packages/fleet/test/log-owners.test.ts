import { jetstream } from '@nats-io/jetstream'
import { headers } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { headersOf, type LogMessage, NO_BODY, messageId } from '../src/log/log-message.js'
import { linesOf } from '../src/log/log-records.js'
import { LOG_STREAM, logSubject } from '../src/subjects.js'
import { type LogHost, readAll, readSome, startLogHost } from './support/fleet-hosts.ts'
import { LocalLog } from './support/local-log.ts'
import { lastOf, storeAgain, storeSigned } from './support/stored.ts'
import { startNats } from './support/nats-servers.ts'

test('17.3 an owner whose session was taken over stores nothing more and is fenced', needs('nats-server'), async () => {
  const { url } = await startNats()
  const earlier = await startLogHost([url])
  const later = await startLogHost([url], { epochOf: () => 2 })
  const local = new LocalLog('s_1')
  local.append(10)
  const publication = earlier.publisher.publish('s_1', local.follow)
  await earlier.publisher.drain(10_000)
  expect(await later.publisher.takeOver('s_1', 2)).toBe(10)
  expect(await later.publisher.takeOver('s_1', 2)).toBe(10)
  local.append(5)
  expect(await publication.done).toEqual({ type: 'fenced', epoch: 2 })
  expect(earlier.fenced).toEqual([['s_1', 2]])
  const theirs = new LocalLog('s_1')
  theirs.append(13, (seq) => `other ${seq}`)
  theirs.end()
  await later.publisher.publish('s_1', theirs.follow).done
  expect(await readAll(later.log.follow('s_1', 0))).toEqual([
    ...local.records.slice(0, 10),
    ...theirs.records.slice(10),
  ])
  await expect(earlier.publisher.takeOver('s_1', 1)).rejects.toMatchObject({ code: 'session_live' })
})

test('17.3 an earlier owner that has stored nothing yet is fenced too', needs('nats-server'), async () => {
  const { url } = await startNats()
  const earlier = await startLogHost([url])
  const later = await startLogHost([url], { epochOf: () => 2 })
  expect(await later.publisher.takeOver('s_1', 2)).toBe(0)
  const local = new LocalLog('s_1')
  local.append(1)
  expect(await earlier.publisher.publish('s_1', local.follow).done).toMatchObject({ type: 'fenced' })
})

test('17.3 a host without its lease publishes nothing until it has it again', needs('nats-server'), async () => {
  const { url } = await startNats()
  let isHeld = false
  const host = await startLogHost([url], { mayWrite: () => isHeld })
  const local = new LocalLog('s_1')
  local.append(10)
  host.publisher.publish('s_1', local.follow)
  expect(await host.publisher.drain(300)).toBe(false)
  expect(host.publisher.lag).toBe(10)
  expect(await host.log.lastSeq('s_1')).toBe(0)
  isHeld = true
  expect(await host.publisher.drain(10_000)).toBe(true)
  expect(await host.log.lastSeq('s_1')).toBe(10)
})

test('17.4 a reader that is ahead of a take-over learns that what it has is void', needs('nats-server'), async () => {
  const { url } = await startNats()
  const host = await startLogHost([url], { epochOf: () => 2 })
  await store(host, { kind: 'events', epoch: 1, first: 1, last: 5, body: linesOf(logOf(5).records) })
  const reader = host.log.follow('s_1', 8)
  const first = reader.next()
  await host.publisher.takeOver('s_1', 2)
  expect(await first).toEqual({ records: [], gap: { after: 8, first: 6 } })
  const theirs = logOf(7)
  host.publisher.publish('s_1', theirs.follow)
  expect(await readSome(reader, 2)).toEqual(theirs.records.slice(5))
  expect(await host.log.read('s_1', 3, 100)).toEqual({ records: theirs.records.slice(3) })
})

test('17.4 a fleet that has more than the log of its host stops that session', needs('nats-server'), async () => {
  const { url } = await startNats()
  const host = await startLogHost([url])
  await store(host, { kind: 'events', epoch: 1, first: 1, last: 5, body: linesOf(logOf(5).records) })
  const end = await host.publisher.publish('s_1', logOf(3).follow).done
  expect(end).toMatchObject({ type: 'stopped', problem: { code: 'storage_corrupt' } })
  expect(host.problems).toEqual([expect.stringContaining('not published to the fleet any more')])
})

test('17.4 an answer that was lost is not a second message', needs('nats-server'), async () => {
  const { url } = await startNats()
  const host = await startLogHost([url])
  const local = logOf(5)
  const publication = host.publisher.publish('s_1', local.follow)
  await host.publisher.drain(10_000)
  // As if the host had stored it and not heard of it.
  local.append(3)
  await store(host, { kind: 'events', epoch: 1, first: 6, last: 8, body: linesOf(local.records.slice(5)) }).catch(
    () => undefined,
  )
  local.append(2)
  local.end()
  expect(await publication.done).toEqual({ type: 'complete', lastSeq: 10 })
  expect(await readAll(host.log.follow('s_1', 0))).toEqual(local.records)
})

test('17.4 an event whose parts are torn is published again from where it ends', needs('nats-server'), async () => {
  const { url } = await startNats()
  const host = await startLogHost([url])
  const local = new LocalLog('s_1')
  local.append(1, () => 'x'.repeat(3_000_000))
  local.append(1)
  local.end()
  const bytes = linesOf(local.records.slice(0, 1))
  await store(host, part(bytes, 0, 1_000))
  await store(host, part(bytes, 1_000, 2_000))
  await host.publisher.publish('s_1', local.follow).done
  expect(same(await readAll(host.log.follow('s_1', 0)), local.records)).toBe(true)
})

test('17.7 crafted messages of another client are refused, and readers go on', needs('nats-server'), async () => {
  const { url } = await startNats()
  const host = await startLogHost([url])
  const local = logOf(3)
  const events = (changes: Partial<LogMessage>): LogMessage => ({
    kind: 'events',
    epoch: 1,
    first: 1,
    last: 3,
    body: linesOf(local.records),
    ...changes,
  })
  const crafted: readonly LogMessage[] = [
    events({ body: Buffer.from('not an event') }),
    events({ last: 2 }),
    events({ first: 2, last: 4 }),
    events({ body: linesOf(logOf(3, 's_2').records) }),
    events({ body: linesOf([...local.records].toReversed()) }),
    events({ first: 3, last: 1 }),
    events({ last: Number.MAX_SAFE_INTEGER }),
    events({ epoch: 0 }),
    events({ epoch: 1e300 }),
    events({ body: NO_BODY }),
    events({ body: Buffer.from([0xff, 0xfe]) }),
    events({ kind: 'gap' }),
    events({ kind: 'gap', last: 0, body: NO_BODY }),
    events({ kind: 'owner' }),
    events({ kind: 'end', first: 9, last: 3, body: NO_BODY }),
    { ...part(Buffer.from('xx'), 0, 2), part: { offset: 0, total: 900_000_000 } },
    { ...part(Buffer.from('xx'), 0, 2), part: { offset: 5, total: 6 } },
    events({ last: 1, body: Buffer.from(`${local.records[0]?.json.slice(0, -1)},"text":{}}`) }),
    events({ last: 1, body: Buffer.from(local.records[0]?.json.slice(0, -2) ?? '') }),
    events({ last: 1, body: Buffer.from(`${local.records[0]?.json}}`) }),
  ]
  for (const message of crafted) await store(host, message)
  await jetstream(host.nats).publish(logSubject('s_1'), 'no headers')
  const wrong = headers()
  wrong.set('Agentproto-Log', 'constructor')
  await jetstream(host.nats).publish(logSubject('s_1'), 'x', { headers: wrong })
  await store(host, events({}))
  await store(host, { kind: 'end', epoch: 1, first: 4, last: 3, body: NO_BODY })
  expect(await readAll(host.log.follow('s_1', 0))).toEqual(local.records)
  expect(host.problems).toHaveLength(crafted.length + 2)
  expect(await host.log.read('s_1', 0, 10)).toEqual({ records: local.records })
})

test('17.R1 crafted messages at the end of a log do not stop its publication', needs('nats-server'), async () => {
  const { url } = await startNats()
  const host = await startLogHost([url])
  const [local, other] = [logOf(3), logOf(3, 's_2')]
  const publication = host.publisher.publish('s_1', local.follow)
  host.publisher.publish('s_2', other.follow)
  await host.publisher.drain(10_000)
  for (let n = 0; n < 40; n += 1) await jetstream(host.nats).publish(logSubject('s_1'), 'crafted')
  expect(await host.log.lastSeq('s_1')).toBe(3)
  local.append(1)
  local.end()
  expect(await publication.done).toEqual({ type: 'complete', lastSeq: 4 })
  expect(await host.log.read('s_1', 0, 10)).toEqual({ records: local.records })
  expect(await readAll(host.log.follow('s_1', 0))).toEqual(local.records)
  expect(await host.log.lastSeq('s_2')).toBe(3)
})

test('17.7 messages of an owner that has lost the session are refused', needs('nats-server'), async () => {
  const { url } = await startNats()
  const host = await startLogHost([url], { epochOf: () => 2 })
  await store(host, { kind: 'events', epoch: 1, first: 1, last: 2, body: linesOf(logOf(2).records) })
  await host.publisher.takeOver('s_1', 2)
  // The server refuses them; here one is stored after the other owner's.
  await store(host, { kind: 'events', epoch: 1, first: 3, last: 4, body: linesOf(logOf(4).records.slice(2)) })
  await store(host, { kind: 'events', epoch: 2, first: 3, last: 3, body: linesOf(logOf(3).records.slice(2)) })
  await store(host, { kind: 'end', epoch: 2, first: 4, last: 3, body: NO_BODY })
  expect(await readAll(host.log.follow('s_1', 0))).toEqual(logOf(3).records)
  expect(host.problems).toEqual([expect.stringContaining('an owner that has lost the session')])
})

test(
  '17.R1 a client without the key of the fleet cannot forge events, or end or take a log',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const host = await startLogHost([url])
    const local = logOf(3)
    const publication = host.publisher.publish('s_1', local.follow)
    await host.publisher.drain(10_000)
    const first = await lastOf(host.nats, LOG_STREAM, logSubject('s_1'))
    const forged: readonly LogMessage[] = [
      { kind: 'events', epoch: 1, first: 4, last: 4, body: linesOf(logOf(4).records.slice(3)) },
      { kind: 'gap', epoch: 1, first: 4, last: 1_000_000, body: NO_BODY },
      { kind: 'end', epoch: 1, first: 4, last: 3, body: NO_BODY },
      { kind: 'owner', epoch: 2, first: 4, last: 3, body: NO_BODY },
    ]
    const client = jetstream(host.nats)
    for (const message of forged) await client.publish(logSubject('s_1'), message.body, { headers: headersOf(message) })
    // One of the owner, for a log that it is not of, with another header, and once more.
    await client.publish(logSubject('s_1'), first.body, { headers: first.headers }).catch(() => undefined)
    await client.publish(logSubject('s_2'), first.body, { headers: first.headers }).catch(() => undefined)
    await storeAgain(host.nats, first)
    local.append(1, () => 'true')
    local.end()
    expect(await publication.done).toEqual({ type: 'complete', lastSeq: 4 })
    expect(await readAll(host.log.follow('s_1', 0))).toEqual(local.records)
    expect(host.fenced).toEqual([])
    expect(await host.log.read('s_2', 0, 10)).toEqual({ records: [] })
  },
)

test(
  '17.R4 a client that uses the next id of a message does not stop its publication',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const host = await startLogHost([url])
    const local = logOf(3)
    const message = { kind: 'events', epoch: 1, first: 1, last: 3, body: NO_BODY } as const
    const msgID = messageId('s_1', message)
    expect(await jetstream(host.nats).publish(logSubject('s_2'), 'crafted', { msgID })).toMatchObject({
      duplicate: false,
    })
    local.end()
    expect(await host.publisher.publish('s_1', local.follow).done).toEqual({ type: 'complete', lastSeq: 3 })
  },
)

test('17.7 parts without end are not collected', needs('nats-server'), async () => {
  const { url } = await startNats()
  const host = await startLogHost([url])
  const chunk = Buffer.alloc(900_000, 'x')
  for (let seq = 1; seq <= 60; seq += 1)
    await store(host, {
      kind: 'part',
      epoch: 1,
      first: seq,
      last: seq,
      part: { offset: 0, total: 30_000_000 },
      body: chunk,
    })
  const local = logOf(70)
  await store(host, { kind: 'events', epoch: 1, first: 61, last: 70, body: linesOf(local.records.slice(60)) })
  await store(host, { kind: 'end', epoch: 1, first: 71, last: 70, body: NO_BODY })
  expect(await readAll(host.log.follow('s_1', 0))).toEqual([{ after: 0, first: 61 }, ...local.records.slice(60)])
})

const part = (bytes: Buffer, from: number, to: number): LogMessage => ({
  kind: 'part',
  epoch: 1,
  first: 1,
  last: 1,
  part: { offset: from, total: bytes.length },
  body: bytes.subarray(from, to),
})

/** As a gateway that errs. */
const store = (host: LogHost, message: LogMessage): Promise<unknown> =>
  storeSigned(host.nats, {
    stream: LOG_STREAM,
    subject: logSubject('s_1'),
    headers: headersOf(message),
    body: message.body,
  })

function logOf(count: number, sessionId = 's_1'): LocalLog {
  const log = new LocalLog(sessionId)
  log.append(count)
  return log
}

/** Without a difference of megabytes when it fails. */
const same = (read: unknown, wanted: unknown): boolean => JSON.stringify(read) === JSON.stringify(wanted)
