import type { EventLogStore, EventRecord } from '@agentproto/contracts'
import { expect, test } from 'vitest'

/** What every event log does, whatever it is made of. */
export function testEventLog(name: string, make: () => Promise<EventLogStore>): void {
  test(`${name}: a new log is empty`, async () => {
    const { log, repairs } = await (await make()).open('s_00000001')
    expect([log.lastSeq, repairs, await log.read(0, 10)]).toEqual([0, [], { records: [] }])
    await log.close()
  })

  test(`${name}: what was appended is read back in order, from any cursor, within the limit`, async () => {
    const { log } = await (await make()).open('s_00000001')
    await log.append(records(1, 3_000))
    await log.append(records(3_001, 10))
    expect(log.lastSeq).toBe(3_010)
    for (const after of [0, 1, 999, 1_500, 2_999, 3_005, 3_010]) {
      const read: number[] = []
      for (let cursor = after; ; cursor = read.at(-1) ?? cursor) {
        const { records: page } = await log.read(cursor, 700)
        expect(page.length).toBeLessThanOrEqual(700)
        if (page.length === 0) break
        read.push(...page.map(({ seq }) => seq))
      }
      expect(read).toEqual(Array.from({ length: 3_010 - after }, (_, index) => after + 1 + index))
    }
    await log.close()
  })

  test(`${name}: a batch that does not follow the log is refused and changes nothing`, async () => {
    const { log } = await (await make()).open('s_00000001')
    await log.append(records(1, 2))
    await expect(log.append(records(2, 1))).rejects.toMatchObject({ code: 'storage_failed' })
    await expect(log.append(records(4, 1))).rejects.toMatchObject({ code: 'storage_failed' })
    expect((await log.read(0, 10)).records).toHaveLength(2)
    await log.close()
  })

  test(`${name}: an event of 2 MiB and text of every plane come back as they were`, async () => {
    const { log } = await (await make()).open('s_00000001')
    const texts = ['x'.repeat(2 * 1024 * 1024), 'ж😀\u2028\u0000"\\', '']
    await log.append(texts.map((text, index) => record(index + 1, text)))
    const read: EventRecord[] = []
    while (read.length < 3) read.push(...(await log.read(read.length, 10)).records)
    expect(read.map(({ json }) => (JSON.parse(json) as { text: string }).text)).toEqual(texts)
    await log.close()
  })

  test(`${name}: logs of two sessions are apart, and a deleted one is empty`, async () => {
    const store = await make()
    const [a, b] = [(await store.open('s_0000000a')).log, (await store.open('s_0000000b')).log]
    await a.append(records(1, 2))
    expect([a.lastSeq, b.lastSeq]).toEqual([2, 0])
    await a.close()
    await b.close()
    await store.delete('s_0000000a')
    const { log } = await store.open('s_0000000a')
    expect(log.lastSeq).toBe(0)
    await log.close()
  })
}

function record(seq: number, text = `event ${seq}`): EventRecord {
  const envelope = { seq, ts: '2026-11-21T12:00:00.000Z', sessionId: 's_00000001', turn: 1 }
  return { seq, type: 'text-delta', json: JSON.stringify({ ...envelope, type: 'text-delta', text }) }
}

export const records = (from: number, count: number): EventRecord[] =>
  Array.from({ length: count }, (_, index) => record(from + index))
