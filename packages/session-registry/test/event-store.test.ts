import { appendFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FileEventStore, MemoryEventStore } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { testEventStore } from '@agentproto/session-registry/testing'
import { records } from './fixtures/event-records.js'
import { temporaryHome } from './fixtures/test-registry.js'

testEventStore('memory', { test, place: () => new MemoryEventStore(), open: (store) => store })
for (const durability of ['kernel', 'disk'] as const) {
  testEventStore(`file, kept by the ${durability}`, {
    test,
    place: temporaryHome,
    open: (directory) => new FileEventStore({ directory, durability }),
    damage: (directory, id) => {
      const path = join(directory, id, 'events.jsonl')
      truncateSync(path, statSync(path).size - 5)
    },
  })
}

test('F48 the next number is recovered from the file, without reading all of it', async () => {
  const store = new FileEventStore({ directory: await temporaryHome() })
  const first = (await store.open('s_00000001')).log
  await first.append(records(1, 5_000))
  await first.close()
  const { log, repairs } = await store.open('s_00000001')
  expect([log.lastSeq, repairs]).toEqual([5_000, []])
  await log.append(records(5_001, 1))
  expect((await log.read(4_999, 10)).records.map(({ seq }) => seq)).toEqual([5_000, 5_001])
  await log.close()
})

test.each([
  ['half a line', (path: string) => appendFileSync(path, '{"seq":4,"ts":"2026')],
  ['zeros of a power cut', (path: string) => appendFileSync(path, Buffer.alloc(4_096))],
  ['lines that are no events', (path: string) => appendFileSync(path, 'what\n{"a":1}\nis this')],
  ['a cut last event', (path: string) => truncateSync(path, statSync(path).size - 5)],
])('a torn end (%s) is moved aside and reported, and the log goes on without a hole', async (_, damage) => {
  const directory = await temporaryHome()
  const store = new FileEventStore({ directory })
  const { log } = await store.open('s_00000001')
  await log.append(records(1, 3))
  await log.close()
  const path = join(directory, 's_00000001', 'events.jsonl')
  damage(path)
  const whole = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{"seq"') && line.endsWith('}')).length
  const opened = await store.open('s_00000001')
  expect(opened.repairs).toHaveLength(1)
  expect(opened.log.lastSeq).toBe(whole)
  expect(readdirSync(join(directory, 's_00000001')).some((name) => name.includes('.torn-'))).toBe(true)
  await opened.log.append(records(whole + 1, 1))
  expect((await opened.log.read(0, 10)).records.map(({ seq }) => seq)).toEqual(
    records(1, whole + 1).map(({ seq }) => seq),
  )
  await opened.log.close()
})

test('an empty file is an empty log', async () => {
  const directory = await temporaryHome()
  const store = new FileEventStore({ directory })
  await (await store.open('s_00000001')).log.close()
  writeFileSync(join(directory, 's_00000001', 'events.jsonl'), '')
  const { log, repairs } = await store.open('s_00000001')
  expect([log.lastSeq, repairs]).toEqual([0, []])
  await log.close()
})

test('files are the owner’s alone, and no session id becomes a path', async () => {
  const directory = await temporaryHome()
  const store = new FileEventStore({ directory })
  const { log } = await store.open('s_00000001')
  await log.append(records(1, 1))
  await log.close()
  expect(statSync(join(directory, 's_00000001')).mode & 0o777).toBe(0o700)
  expect(statSync(join(directory, 's_00000001', 'events.jsonl')).mode & 0o777).toBe(0o600)
  for (const id of ['../x', 's_0000000/..', '', 's_00000001\0', '/etc']) {
    await expect(store.open(id)).rejects.toMatchObject({ code: 'session_not_found' })
  }
})

test('a read that is under way survives the close of its log', async () => {
  const store = new FileEventStore({ directory: await temporaryHome() })
  const { log } = await store.open('s_00000001')
  await log.append(records(1, 100))
  const reading = log.read(0, 100)
  await log.close()
  expect((await reading).records).toHaveLength(100)
  await expect(log.append(records(101, 1))).rejects.toMatchObject({ code: 'storage_failed' })
})

test('a memory log at its bound drops its oldest events and reports the gap', async () => {
  const { log } = await new MemoryEventStore({ maxChars: 10_000 }).open('s_00000001')
  for (let seq = 1; seq <= 500; seq += 1) await log.append(records(seq, 1))
  const { records: kept, gap } = await log.read(0, 1_000)
  expect(kept.at(-1)?.seq).toBe(500)
  expect(gap).toEqual({ after: 0, first: kept[0]?.seq })
  expect(kept.length).toBeLessThan(100)
})

test('F46 lines in the middle of a log that are no events are a gap, and what is whole before and after is served', async () => {
  const directory = await temporaryHome()
  const store = new FileEventStore({ directory })
  const { log } = await store.open('s_00000001')
  await log.append(records(1, 10))
  await log.close()
  const path = join(directory, 's_00000001', 'events.jsonl')
  const lines = readFileSync(path, 'utf8').split('\n')
  lines[4] = lines[5] = '\0'.repeat(40)
  writeFileSync(path, lines.join('\n'))
  const { log: again } = await store.open('s_00000001')
  const read = async (after: number) => {
    const { records: found, gap } = await again.read(after, 100)
    return [found.map(({ seq }) => seq), gap]
  }
  expect(await read(0)).toEqual([[1, 2, 3, 4], undefined])
  expect(await read(4)).toEqual([[7, 8, 9, 10], { after: 4, first: 7 }])
  expect(await read(5)).toEqual([[7, 8, 9, 10], { after: 5, first: 7 }])
  expect(await read(6)).toEqual([[7, 8, 9, 10], undefined])
  expect(again.lastSeq).toBe(10)
  await again.close()
})
