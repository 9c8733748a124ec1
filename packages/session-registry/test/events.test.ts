import { expect, test } from 'vitest'
import { eventOf, number, recordOf } from '../src/log/event-record.js'
import { settled } from './fixtures/manual-clock.js'
import { scripted, type Script } from './fixtures/scripted-agent.js'
import { drain, fileRegistry, memoryRegistry, owner, temporaryHome } from './fixtures/test-registry.js'

const stamp = { seq: 12, ts: '2026-11-21T12:00:00.000Z', sessionId: 's_00000001', turn: 3 }

test('a record’s head can be read without parsing it, whatever order its maker wrote the members in', () => {
  for (const entry of [
    { type: 'text-delta', text: '"type":"x"\n' },
    { text: '{"seq":1}', type: 'text-delta' },
  ] as const) {
    const { record, event } = number(entry, stamp)
    expect(recordOf(record.json)).toMatchObject({ seq: 12, type: 'text-delta' })
    expect(JSON.parse(record.json)).toEqual({ ...stamp, ...entry })
    expect([event, eventOf(record)]).toEqual([
      { ...stamp, ...entry },
      { ...stamp, ...entry },
    ])
    expect(record.json).not.toContain('\n')
  }
  for (const line of ['', '{}', '{"seq":0,"type":"x"}', 'seq', '{"seq":"1"}']) expect(recordOf(line)).toBeUndefined()
})

test('an event over its bound is cut, and contains its original size', () => {
  const output = 'x'.repeat(9 * 1024 * 1024)
  const { record, event } = number({ type: 'tool-result', toolCallId: 't', status: 'completed', output }, stamp)
  expect(record.json.length).toBeLessThan(100_000)
  expect(event).toMatchObject({ toolCallId: 't', cut: { originalChars: output.length + 72 } })
})

test('what is redacted is redacted in the log and for every reader', async () => {
  const { registry } = await memoryRegistry({ ...scripted(), redact: (text) => text.replaceAll('hunter2', '***') })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'say hunter2' }, owner)
  const { text } = await registry.waitTurn(id, 1)
  expect(text).toBe('echo: say ***')
  const { records } = await registry.events(id, 0, 100)
  expect(records.map(({ json }) => json).join()).not.toContain('hunter2')
  expect(JSON.stringify(await registry.output(id))).not.toContain('hunter2')
})

const flood: Script = async ({ emit }) => {
  for (let i = 0; i < 200; i += 1)
    await emit(...Array.from({ length: 100 }, (_, j) => ({ type: 'text-delta', text: `${i}.${j} ` }) as const))
  await emit({ type: 'turn-end', reason: 'end_turn' })
}

test('a reader that begins late, far behind or in the middle gets each event exactly once', async () => {
  for (const registry of [
    (await memoryRegistry(scripted(flood))).registry,
    await fileRegistry(await temporaryHome(), scripted(flood)),
  ]) {
    const { id } = await registry.spawn({ adapter: 'fake' }, owner)
    const early = drain(await registry.follow(id, 0))
    await registry.prompt(id, { prompt: 'x' }, owner)
    await settled()
    const middle = drain(await registry.follow(id, 5_000))
    await registry.waitTurn(id, 1)
    await registry.kill(id, owner)
    const late = drain(await registry.follow(id, 0))
    const total = (await registry.get(id)).lastSeq
    expect(total).toBeGreaterThan(20_000)
    for (const [batches, after] of [
      [await early, 0],
      [await middle, 5_000],
      [await late, 0],
    ] as const) {
      const seqs = batches.flatMap(({ records }) => records.map(({ seq }) => seq))
      expect(seqs).toEqual(Array.from({ length: total - after }, (_, index) => after + 1 + index))
    }
  }
})

test('a cursor beyond the end gets a gap notice, then the next events', async () => {
  const { registry } = await memoryRegistry(scripted())
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  const reader = await registry.follow(id, 99)
  expect(await reader.next()).toEqual({ records: [], gap: { after: 99, first: 3 } })
  await registry.prompt(id, { prompt: 'x' }, owner)
  expect((await reader.next())?.records[0]?.seq).toBe(3)
  reader.close()
  expect(await reader.next()).toBeUndefined()
})

test('an aborted wait of a reader loses nothing', async () => {
  const { registry } = await memoryRegistry(scripted())
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  const reader = await registry.follow(id, 2)
  const abort = new AbortController()
  const waiting = reader.next(abort.signal)
  abort.abort()
  expect(await waiting).toBeUndefined()
  await registry.prompt(id, { prompt: 'x' }, owner)
  expect((await reader.next())?.records[0]?.seq).toBe(3)
  reader.close()
})

test('watchers get every change of state, and a slow one gets the latest of each session', async () => {
  const { registry, clock } = await memoryRegistry(scripted())
  const watcher = registry.watch()
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  expect(await watcher.next()).toMatchObject([{ type: 'session', session: { id, status: 'running' } }])
  await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'x' }, owner)).turn)
  await clock.advance(1_000)
  expect(await watcher.next()).toMatchObject([{ session: { turnCount: 1, turn: { state: 'idle' } } }])
  await registry.forget(id, owner)
  expect((await watcher.next())?.at(-1)).toEqual({ type: 'forgotten', id })
  watcher.close()
  expect(await watcher.next()).toBeUndefined()
})

test('lists are filtered and paged, the newest first', async () => {
  const { registry } = await memoryRegistry(scripted())
  const ids: string[] = []
  for (let i = 0; i < 5; i += 1)
    ids.unshift((await registry.spawn({ adapter: 'fake', label: i % 2 ? 'odd' : 'even' }, owner)).id)
  await registry.kill(ids[0] ?? '', owner)
  const first = await registry.list({ limit: 2 })
  expect(first.sessions.map(({ id }) => id)).toEqual(ids.slice(0, 2))
  const rest = await registry.list({ limit: 10, after: first.nextCursor ?? '' })
  expect(rest.sessions.map(({ id }) => id)).toEqual(ids.slice(2))
  expect(rest.nextCursor).toBeUndefined()
  expect((await registry.list({ label: 'odd' })).sessions).toHaveLength(2)
  const { cwd } = first.sessions[0] ?? { cwd: '' }
  expect((await registry.list({ cwd, limit: 10 })).sessions).toHaveLength(5)
  expect((await registry.list({ cwd: `${cwd}/none` })).sessions).toEqual([])
  expect((await registry.list({ onlyAlive: true })).sessions).toHaveLength(4)
  expect((await registry.list({ status: 'killed' })).sessions.map(({ id }) => id)).toEqual([ids[0]])
  expect((await registry.list({ q: (ids[3] ?? '').toUpperCase() })).sessions.map(({ id }) => id)).toEqual([ids[3]])
})
