import { readdirSync } from 'node:fs'
import { systemClock } from '@agentproto/contracts'
import { FileEventStore, MemoryEventStore } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { EventLog } from '../src/log/event-log.js'
import { temporaryHome } from './fixtures/test-registry.js'

test('17.4 a reader of a log that is removed comes to its end, and does not create the log again', async () => {
  const directory = await temporaryHome()
  const store = new FileEventStore({ directory })
  const observer = { effective: () => undefined, flushed: () => undefined, closed: () => undefined }
  const about = { sessionId: 's_00000001', clock: systemClock, lastSeq: 0, isOver: () => true, onIdle: () => undefined }
  const log = new EventLog({ ...about, store, observer })
  await log.append(title('one'))
  const [behind, waiting] = [await log.follow(0), await log.follow(1)]
  const next = waiting.next()
  await log.remove()
  await store.delete('s_00000001')
  expect([await behind.next(), await next]).toEqual([undefined, undefined])
  expect(await log.read(0, 10)).toEqual({ records: [] })
  expect(readdirSync(directory)).toEqual([])
})

function memoryLog(effective: () => void = () => undefined): EventLog {
  return new EventLog({
    sessionId: 's_00000001',
    store: new MemoryEventStore(),
    clock: systemClock,
    lastSeq: 0,
    isOver: () => false,
    onIdle: () => undefined,
    observer: { effective, flushed: () => undefined, closed: () => undefined },
  })
}

const title = (text: string) => [{ entries: [{ type: 'title', title: text } as const] }]

test.each([0, 1, 2, 3])(
  'an entry appended %i steps after a write is published is stored when its append resolves',
  async (steps) => {
    let publish: () => void = () => undefined
    const published = new Promise<void>((resolve) => (publish = resolve))
    const log = memoryLog(() => publish())
    const second = published.then(async () => {
      for (let step = 0; step < steps; step += 1) await Promise.resolve()
      await log.append(title('second'))
      return log.lastSeq
    })
    await log.append(title('first'))
    expect(await second).toBe(2)
  },
)

test('an empty append writes nothing, and the next append is stored', async () => {
  const log = memoryLog()
  await log.append([])
  expect(log.lastSeq).toBe(0)
  await log.append(title('one'))
  expect(log.lastSeq).toBe(1)
})
