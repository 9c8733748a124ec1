import { mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { EventStore } from '@agentproto/contracts/agent'
import { FileEventStore, MemorySessionStore, type SessionRegistryOptions } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { settled } from './fixtures/manual-clock.js'
import { scripted, type Script } from './fixtures/scripted-agent.js'
import { allEvents, memoryRegistry, owner, resumableAdapters, temporaryHome, types } from './fixtures/test-registry.js'
import { records } from './fixtures/event-records.js'

test('a full disk refuses the batch as storage_failed, and the log goes on once there is room', async () => {
  const directory = await temporaryHome()
  await mkdir(join(directory, 's_00000001'))
  // Every write to this device fails with ENOSPC, for real.
  await symlink('/dev/full', join(directory, 's_00000001', 'events.jsonl'))
  const store = new FileEventStore({ directory })
  const { log } = await store.open('s_00000001')
  await expect(log.append(records(1, 3))).rejects.toMatchObject({
    code: 'storage_failed',
    message: expect.stringContaining('ENOSPC') as string,
  })
  expect([log.lastSeq, await log.read(0, 10)]).toEqual([0, { records: [] }])
  await log.close()
  await rm(join(directory, 's_00000001', 'events.jsonl'))
  const { log: next } = await store.open('s_00000001')
  await next.append(records(1, 3))
  expect((await next.read(0, 10)).records).toHaveLength(3)
  await next.close()
})

test('12 a batch that cannot be flushed to the disk is refused as a whole, and its numbers are used again', async () => {
  const directory = await temporaryHome()
  await mkdir(join(directory, 's_00000001'))
  // This device accepts every write, and fdatasync of it fails with EINVAL, for real.
  await symlink('/dev/null', join(directory, 's_00000001', 'events.jsonl'))
  const { log } = await new FileEventStore({ directory, durability: 'disk' }).open('s_00000001')
  const flush = { code: 'storage_failed', message: expect.stringContaining('EINVAL') as string }
  await expect(log.append(records(1, 3))).rejects.toMatchObject(flush)
  expect([log.lastSeq, await log.read(0, 10)]).toEqual([0, { records: [] }])
  await expect(log.append(records(1, 3))).rejects.toMatchObject(flush)
  await log.close()
})

test('a session whose log cannot be written ends as an error; what was seen stays, and nothing is logged past a gap', async () => {
  const flaky = flakyLogs()
  const talk: Script = async ({ emit, cancelled }) => {
    await emit({ type: 'text-delta', text: 'kept' })
    flaky.full = true
    await emit({ type: 'text-delta', text: 'lost' })
    flaky.full = false
    await emit({ type: 'text-delta', text: 'after the gap' })
    await cancelled
    await emit({ type: 'turn-end', reason: 'cancelled' })
  }
  const { registry, clock } = await memoryRegistry({ ...scripted(talk), logs: flaky.store })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  expect(await registry.waitTurn(id, 1)).toMatchObject({ reason: 'error', text: 'kept' })
  await clock.advance(60_000)
  expect(await registry.get(id)).toMatchObject({
    status: 'error',
    stopReason: 'error',
    failure: { summary: expect.stringContaining('No room') as string },
  })
  expect(types(await allEvents(registry, id))).toEqual([
    'status',
    'status',
    'user-prompt',
    'text-delta',
    'error',
    'turn-end',
    'status',
    'session-stopped',
  ])
})

test('a prompt that cannot be logged is refused and its turn is free again', async () => {
  const flaky = flakyLogs()
  const { registry } = await memoryRegistry({ ...scripted(), logs: flaky.store })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  flaky.full = true
  await expect(registry.prompt(id, { prompt: 'x' }, owner)).rejects.toMatchObject({ code: 'storage_failed' })
  flaky.full = false
  const { turn } = await registry.prompt(id, { prompt: 'y' }, owner)
  expect(await registry.waitTurn(id, turn)).toMatchObject({ number: 1, text: 'echo: y' })
})

test('a home that cannot be written refuses the spawn, and starts no agent', async () => {
  const flaky = flakyLogs()
  flaky.full = true
  const { startAgent, agents } = scripted()
  const { registry } = await memoryRegistry({ startAgent, logs: flaky.store })
  await expect(registry.spawn({ adapter: 'fake' }, owner)).rejects.toMatchObject({ code: 'storage_failed' })
  expect(agents).toEqual([])
  expect((await registry.list()).sessions).toMatchObject([{ status: 'error' }])
})

const ENDS = ['error', 'turn-end', 'status', 'session-stopped']

/** A session whose disk has become full in the middle of a turn, and stays so. */
async function full(options: Partial<SessionRegistryOptions> = {}) {
  const flaky = flakyLogs()
  const store = new MemorySessionStore()
  const talk: Script = async ({ emit, cancelled }) => {
    await emit({ type: 'text-delta', text: 'kept' })
    flaky.full = true
    await emit({ type: 'text-delta', text: 'lost' })
    await cancelled
  }
  const agents = scripted(talk)
  const { registry, clock } = await memoryRegistry({
    ...agents,
    adapters: resumableAdapters,
    store,
    logs: flaky.store,
    ...options,
  })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await registry.waitTurn(id, 1)
  await settled()
  const kept = async (): Promise<string | undefined> => (await store.load()).sessions[0]?.session.status
  return { flaky, store, registry, clock, id, kept, agents }
}

test('what could not be written on a full disk is written once there is room, and no record has it before', async () => {
  const { flaky, registry, clock, id, kept } = await full()
  expect(await registry.get(id)).toMatchObject({ status: 'error', stopReason: 'error', turn: { state: 'idle' } })
  await clock.advance(120_000)
  expect(types(await allEvents(registry, id)).at(-1)).toBe('text-delta')
  expect(await kept()).not.toBe('error')
  flaky.full = false
  await clock.advance(60_000)
  const events = await allEvents(registry, id)
  expect(types(events).slice(-4)).toEqual(ENDS)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  // Readers of the end got the numbers that it has now, although it could not be written then.
  expect(await registry.turns(id)).toMatchObject([{ lastSeq: events.find(({ type }) => type === 'turn-end')?.seq }])
  await clock.advance(5_000)
  expect(await kept()).toBe('error')
  expect(await registry.get(id)).toMatchObject({ endedAt: events.at(-1)?.ts })
  expect((await registry.archive.repair(id, { dryRun: true }, owner)).findings).toEqual([])
})

test('a session that is resumed when there is room again has its last end in the log before its next turn', async () => {
  const { flaky, registry, id } = await full()
  await expect(registry.resume(id, { fresh: true }, owner)).rejects.toMatchObject({ code: 'storage_failed' })
  flaky.full = false
  await registry.resume(id, { fresh: true }, owner)
  const seen = types(await allEvents(registry, id))
  const ends = seen.indexOf('error')
  expect(seen.slice(ends, ends + 4)).toEqual(ENDS)
  expect(seen.filter((type) => type === 'turn-end')).toHaveLength(1)
  expect(await registry.get(id)).toMatchObject({ status: 'running', turnCount: 1 })
})

test('a repair of a session whose log lacks the end writes that end, and no other', async () => {
  const { flaky, registry, id } = await full()
  expect((await registry.archive.repair(id, { dryRun: true }, owner)).findings.map(({ kind }) => kind)).toEqual([
    'dangling-turn',
    'no-end',
  ])
  flaky.full = false
  expect((await registry.archive.repair(id, { dryRun: false }, owner)).findings).toEqual([])
  expect(
    types(await allEvents(registry, id))
      .filter((type) => ENDS.includes(type))
      .slice(-4),
  ).toEqual(ENDS)
})

test('a host that ends while the disk is full leaves a record that its successor completes', async () => {
  const { flaky, registry, store, id, kept } = await full()
  await registry.close()
  expect(await kept()).not.toBe('error')
  flaky.full = false
  const { registry: next } = await memoryRegistry({
    ...scripted(),
    adapters: resumableAdapters,
    store,
    logs: flaky.store,
  })
  expect(await next.get(id)).toMatchObject({ status: 'error', stopReason: 'agent_crashed', turn: { state: 'idle' } })
  const events = await allEvents(next, id)
  expect(types(events).filter((type) => type === 'turn-end')).toHaveLength(1)
  expect(events.at(-1)).toMatchObject({ type: 'session-stopped' })
})

/** Logs in memory whose disk is full when the test says so. */
function flakyLogs(): { full: boolean; readonly store: EventStore } {
  const inner = new MemoryLogs()
  return inner
}

class MemoryLogs {
  full = false
  readonly #lines: { seq: number; type: never; json: string }[] = []
  readonly store: EventStore = {
    open: () => Promise.resolve({ log: this.#log(), repairs: [] }),
    delete: () => Promise.resolve(),
  }

  #log(): Awaited<ReturnType<EventStore['open']>>['log'] {
    const lines = this.#lines
    return {
      get lastSeq() {
        return lines.length
      },
      append: (batch) => {
        if (this.full) return Promise.reject(new Error('No room'))
        lines.push(...(batch as typeof lines))
        return Promise.resolve()
      },
      read: (after, limit) => Promise.resolve({ records: lines.slice(after, after + limit) }),
      close: () => Promise.resolve(),
    }
  }
}
