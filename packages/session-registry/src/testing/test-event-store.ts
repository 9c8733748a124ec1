import assert from 'node:assert/strict'
import type { EventRecord, EventStore, StoredLog } from '@agentproto/contracts/agent'
import { lostRecord } from '../log/event-record.js'
import { registerCases, type StoreCases, type StoreSubject } from './store-subject.js'

/**
 * Registers the conformance suite of event logs (`EventStore`) with a test runner: order without holes, reading from
 * any cursor within a limit, batches that do not follow refused, text kept as it is, sessions apart, everything that was
 * acknowledged there for the next host, and with `damage`, a torn end is reported and the log continues.
 * @param name of the store, in the tests' titles
 */
export function testEventStore<Place>(name: string, subject: StoreSubject<EventStore, Place>): void {
  const cases = { ...READING, ...WRITING, ...KEEPING, ...(subject.damage === undefined ? {} : DAMAGE) }
  registerCases(name, subject, { cases })
}

const A = 's_0000000a'
const B = 's_0000000b'

const READING: StoreCases<EventStore> = {
  'a new log is empty': async ({ open }) => {
    const { log, repairs } = await (await open()).open(A)
    assert.deepEqual([log.lastSeq, repairs, await log.read(0, 10)], [0, [], { records: [] }])
    await log.close()
  },
  'what was appended is read back in order, from any cursor, within the limit': async ({ open }) => {
    const { log } = await (await open()).open(A)
    await log.append(records(1, 3_000))
    await log.append(records(3_001, 10))
    assert.equal(log.lastSeq, 3_010)
    for (const after of [0, 1, 999, 1_500, 2_999, 3_005, 3_010, 4_000]) {
      const expected = after >= 3_010 ? [] : records(after + 1, 3_010 - after)
      assert.deepEqual(await readAll(log, after, 700), expected)
    }
    await log.close()
  },
  'where a log can be read beside its writer, it is read as it is': async ({ open }) => {
    const store = await open()
    const { log } = await store.open(A)
    await log.append(records(1, 20))
    if (store.scan !== undefined) {
      const read: EventRecord[] = []
      for await (const batch of store.scan(A)) read.push(...batch)
      assert.deepEqual(read, records(1, 20))
    }
    await log.close()
    const condition = await store.inspect?.(A)
    assert.deepEqual(condition ?? { unreadable: [] }, { unreadable: [] })
  },
}

const WRITING: StoreCases<EventStore> = {
  'batches are stored in the order of the calls, even when the caller does not wait': async ({ open }) => {
    const { log } = await (await open()).open(A)
    await Promise.all(Array.from({ length: 50 }, (_, index) => log.append(records(index * 3 + 1, 3))))
    assert.deepEqual(await readAll(log, 0, 1_000), records(1, 150))
    await log.close()
  },
  'a record that is no event keeps its number, and readers get a gap in its place': async ({ open }) => {
    const { log } = await (await open()).open(A)
    await log.append([...records(1, 2), lostRecord(3), lostRecord(4), ...records(5, 2)])
    await log.append([lostRecord(7)])
    await log.append(records(8, 1))
    assert.equal(log.lastSeq, 8)
    assert.deepEqual(await log.read(0, 10), { records: records(1, 2) })
    assert.deepEqual(await log.read(2, 10), { records: records(5, 2), gap: { after: 2, first: 5 } })
    assert.deepEqual(await log.read(3, 1), { records: records(5, 1), gap: { after: 3, first: 5 } })
    assert.deepEqual(await log.read(6, 10), { records: records(8, 1), gap: { after: 6, first: 8 } })
    await log.close()
  },
  'a batch that does not follow the log is refused and changes nothing': async ({ open }) => {
    const { log } = await (await open()).open(A)
    await log.append(records(1, 2))
    await assert.rejects(log.append(records(2, 1)), { code: 'storage_failed' })
    await assert.rejects(log.append(records(4, 1)), { code: 'storage_failed' })
    await log.append(records(3, 1))
    assert.deepEqual(await readAll(log, 0, 10), records(1, 3))
    await log.close()
  },
  'an event of 2 MiB and text of every plane come back as they were': async ({ open }) => {
    const { log } = await (await open()).open(A)
    const texts = ['x'.repeat(2 * 1024 * 1024), 'ж😀\u2028\u0000"\\', '']
    await log.append(texts.map((text, index) => record(index + 1, text)))
    const read = await readAll(log, 0, 10)
    assert.deepEqual(
      read.map(({ json }) => (JSON.parse(json) as { text: string }).text),
      texts,
    )
    await log.close()
  },
}

const KEEPING: StoreCases<EventStore> = {
  'a log goes on where it was when it is opened again': async ({ open }) => {
    const { log: first } = await (await open()).open(A)
    await first.append(records(1, 1_000))
    await first.close()
    const { log, repairs } = await (await open()).open(A)
    assert.deepEqual([log.lastSeq, repairs], [1_000, []])
    await log.append(records(1_001, 1))
    assert.deepEqual(await readAll(log, 998, 10), records(999, 3))
    await log.close()
  },
  'a closed log refuses appends and reads nothing, and can be closed again': async ({ open }) => {
    const { log } = await (await open()).open(A)
    await log.append(records(1, 3))
    await log.close()
    await log.close()
    await assert.rejects(async () => log.append(records(4, 1)), { code: 'storage_failed' })
    assert.deepEqual(await log.read(0, 10), { records: [] })
    const { log: next } = await (await open()).open(A)
    assert.deepEqual(await readAll(next, 0, 10), records(1, 3))
    await next.append(records(4, 1))
    await next.close()
  },
  'what was acknowledged is there for the next host, although its predecessor closed nothing': async ({ open }) => {
    const { log: killed } = await (await open()).open(A)
    await killed.append(records(1, 10))
    const { log, repairs } = await (await open()).open(A)
    assert.deepEqual(repairs, [])
    assert.deepEqual(await readAll(log, 0, 100), records(1, 10))
    await log.close()
    await killed.close()
  },
  'logs of two sessions are apart, and a deleted one is empty': async ({ open }) => {
    const store = await open()
    const [a, b] = [(await store.open(A)).log, (await store.open(B)).log]
    await a.append(records(1, 2))
    assert.deepEqual([a.lastSeq, b.lastSeq], [2, 0])
    await b.append(records(1, 3))
    await a.close()
    await b.close()
    await store.delete(A)
    await store.delete(A)
    const [emptied, kept] = [(await store.open(A)).log, (await store.open(B)).log]
    assert.deepEqual([emptied.lastSeq, kept.lastSeq], [0, 3])
    await emptied.close()
    await kept.close()
  },
}

const DAMAGE: StoreCases<EventStore> = {
  'a torn end is reported, costs no whole event, and the log continues without a hole': async ({ open, damage }) => {
    const store = await open()
    for (const id of [A, B]) {
      const { log } = await store.open(id)
      await log.append(records(1, 5))
      await log.close()
    }
    await damage(A)
    const next = await open()
    const { log, repairs } = await next.open(A)
    assert.ok(repairs.length > 0, 'open() must report what it repaired')
    assert.equal(log.lastSeq, 4)
    await log.append(records(5, 1))
    assert.deepEqual(await readAll(log, 0, 10), records(1, 5))
    await log.close()
    const untouched = await next.open(B)
    assert.deepEqual([untouched.log.lastSeq, untouched.repairs], [5, []])
    await untouched.log.close()
  },
}

/** Everything after a cursor, a batch of at most `limit` at a time. */
async function readAll(log: StoredLog, after: number, limit: number): Promise<EventRecord[]> {
  const read: EventRecord[] = []
  for (;;) {
    const { records: batch, gap } = await log.read(read.at(-1)?.seq ?? after, limit)
    assert.equal(gap, undefined)
    assert.ok(batch.length <= limit, `read() gave ${batch.length} events and was asked for ${limit}`)
    if (batch.length === 0) return read
    read.push(...batch)
  }
}

function record(seq: number, text = `event ${seq}`): EventRecord {
  const envelope = { seq, ts: '2026-11-21T12:00:00.000Z', sessionId: A, turn: 1 }
  return { seq, type: 'text-delta', json: JSON.stringify({ ...envelope, type: 'text-delta', text }) }
}

const records = (from: number, count: number): EventRecord[] =>
  Array.from({ length: count }, (_, index) => record(from + index))
