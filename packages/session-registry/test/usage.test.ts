import { appendFile, open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  FileUsageStore,
  openSessionRegistry,
  type SessionRegistry,
  type UsageRow,
  type UsageStore,
} from '@agentproto/session-registry'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { SessionEvent } from '@agentproto/contracts'
import type { UsageMeter } from '@agentproto/contracts/agent'
import { measure, newMeter } from '../src/usage/meter.js'
import { settled } from './fixtures/manual-clock.js'
import { type Script, scripted } from './fixtures/scripted-agent.js'
import {
  adapters,
  constantFolder,
  fileRegistry,
  fileStores,
  memoryRegistry,
  owner,
  resumableAdapters,
  temporaryHome,
} from './fixtures/test-registry.js'

/** `2 100` reports a sum of 2 USD and 100 tokens; nothing is reported for an empty word. */
const reporter: Script = async ({ text, emit }) => {
  const [cost = '-', tokens = '-'] = text.split(' ')
  if (cost !== '-') await emit({ type: 'usage', cost: { amount: Number(cost), currency: 'USD' } })
  const usage = tokens === '-' ? {} : { usage: { inputTokens: Number(tokens) - 10, outputTokens: 10 } }
  await emit({ type: 'turn-end', reason: 'end_turn', ...usage })
}

async function prompt(registry: SessionRegistry, id: string, text: string): Promise<void> {
  const { turn } = await registry.prompt(id, { prompt: text }, owner)
  await registry.waitTurn(id, turn)
}

const usageIn = (home: string): FileUsageStore => new FileUsageStore({ directory: join(home, 'usage') })

test('13.5 a session has its totals: costs are the differences of what the agent sums up, and nothing is not zero', async () => {
  const { registry } = await memoryRegistry(scripted(reporter))
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  expect(await registry.get(id)).not.toHaveProperty('usage')
  for (const text of ['0.1 100', '0.3 -', '-', '- 50', '0.3 20']) await prompt(registry, id, text)
  expect((await registry.get(id)).usage).toEqual({
    turns: 5,
    unreported: 1,
    withoutTokens: 2,
    withoutCost: 2,
    busyMs: 0,
    tokens: { inputTokens: 140, outputTokens: 30, totalTokens: 170 },
    cost: [{ amount: 0.3, currency: 'USD' }],
  })
})

test('13.5 an agent that counts from zero again after a restart is counted on', async () => {
  const { registry } = await memoryRegistry({ ...scripted(reporter, { load: true }), adapters: resumableAdapters })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await prompt(registry, id, '3')
  await registry.kill(id, owner)
  await registry.resume(id, {}, owner)
  await prompt(registry, id, '1')
  expect((await registry.get(id)).usage?.cost).toEqual([{ amount: 4, currency: 'USD' }])
  await registry.kill(id, owner)
  // A new conversation has no sum yet, so all of its first one is new.
  await registry.resume(id, { fresh: true }, owner)
  await prompt(registry, id, '2')
  expect((await registry.get(id)).usage?.cost).toEqual([{ amount: 6, currency: 'USD' }])
})

test('13.5 the usage of a fork does not count again the conversation that it begins with', async () => {
  const { registry } = await memoryRegistry({ ...scripted(reporter, { fork: true }), adapters: resumableAdapters })
  const { id } = await registry.spawn({ adapter: 'fake', budget: { turns: 9 } }, owner)
  await prompt(registry, id, '3')
  const fork = await registry.fork(id, {}, owner)
  await prompt(registry, fork.id, '3.5')
  expect(await registry.get(fork.id)).toMatchObject({
    budget: { turns: 9 },
    usage: { turns: 1, cost: [{ amount: 0.5, currency: 'USD' }] },
  })
})

test('13.5 what an agent reports is checked: no currency that is none, no amount below nothing', async () => {
  const odd: Script = async ({ emit }) => {
    const costs = [
      { amount: -1, currency: 'USD' },
      { amount: 1, currency: 'Dollars' },
      { amount: Number.NaN, currency: 'USD' },
      { amount: 1e300, currency: 'USD' },
      ...['AAA', 'BBB', 'CCC', 'DDD', 'EEE'].map((currency) => ({ amount: 1, currency })),
    ]
    for (const cost of costs) await emit({ type: 'usage', cost })
    await emit({ type: 'turn-end', reason: 'end_turn', usage: { inputTokens: -5, outputTokens: 0.5 } })
  }
  const { registry } = await memoryRegistry(scripted(odd))
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await prompt(registry, id, 'x')
  const { usage } = await registry.get(id)
  expect(usage?.cost?.map(({ currency }) => currency)).toEqual(['AAA', 'BBB', 'CCC', 'DDD'])
  expect(usage).toMatchObject({ withoutTokens: 1 })
})

test('13.5 usage is reported by session, agent, workspace, day and model, and kept when sessions are pruned', async () => {
  const home = await temporaryHome()
  const usage = usageIn(home)
  const registry = await fileRegistry(home, { ...scripted(reporter), usage })
  const [a, b] = [await registry.spawn({ adapter: 'fake' }, owner), await registry.spawn({ adapter: 'fake' }, owner)]
  await prompt(registry, a.id, '1 100')
  await prompt(registry, b.id, '2 -')
  await registry.forget(a.id, owner)
  const total = { turns: 2, unreported: 0, withoutTokens: 1, withoutCost: 0, cost: [{ amount: 3, currency: 'USD' }] }
  expect(await registry.usage.report()).toMatchObject({
    from: '2026-10-23',
    to: '2026-11-21',
    by: 'day',
    rows: [{ key: '2026-11-21', ...total }],
    total,
  })
  const by = async (group: 'session' | 'agent' | 'workspace' | 'model') =>
    (await registry.usage.report({ by: group })).rows.map(({ key, turns }) => [key, turns] as const)
  expect(await by('agent')).toEqual([['fake', 2]])
  expect(await by('workspace')).toEqual([['default', 2]])
  expect(await by('model')).toEqual([[undefined, 2]])
  expect(new Map(await by('session'))).toEqual(
    new Map([
      [a.id, 1],
      [b.id, 1],
    ]),
  )
  expect(await registry.usage.report({ from: '2026-11-22', to: '2026-11-23' })).toMatchObject({ rows: [] })
  const wrong = [{ from: '2020-01-01' }, { from: '2026-11-22', to: '2026-11-21' }]
  for (const span of wrong) await expect(registry.usage.report(span)).rejects.toMatchObject({ code: 'invalid_request' })
})

test('13.5 a caller with bounds sees the usage of its own sessions alone', async () => {
  const { registry } = await memoryRegistry({ ...scripted(reporter), workspaces: constantFolder('/tmp', 'shop') })
  const { id } = await registry.spawn({ adapter: 'fake', delegation: {} }, owner)
  const by = { type: 'session', name: id, sessionId: id, delegates: true } as const
  const child = await registry.spawn({ adapter: 'fake' }, by)
  await prompt(registry, id, '1')
  await prompt(registry, child.id, '2')
  const turns = async (within: Parameters<typeof registry.usage.report>[1]) =>
    (await registry.usage.report({}, within)).total.turns
  expect(await turns({ workspaces: ['shop'] })).toBe(2)
  expect(await turns({ workspaces: ['other'] })).toBe(0)
  expect(await turns({ workspaces: ['shop'], folders: { shop: '/elsewhere' } })).toBe(0)
  expect(await turns({ under: id })).toBe(1)
  expect(await turns({ under: id, itself: true })).toBe(2)
  await registry.forget(child.id, owner)
  expect(await turns({ under: id, itself: true })).toBe(1)
  expect(await turns({ workspaces: ['shop'] })).toBe(2)
  expect(await turns({ workspaces: ['shop'], folders: { shop: '/elsewhere' } })).toBe(0)
})

test.each([
  ['before', false],
  ['after', true],
])('13.5 a host that dies %s a turn was stored counts it once', async (_, isStored) => {
  const home = await temporaryHome()
  const dead = await openSessionRegistry({
    ...fileStores(home),
    ...scripted(reporter),
    ...(isStored && { usage: usageIn(home) }),
    adapters,
    workspaces: constantFolder('/tmp'),
    hostId: 'dead',
  })
  const { id } = await dead.spawn({ adapter: 'fake' }, owner)
  await prompt(dead, id, '1 100')
  await prompt(dead, id, '3 100')
  if (isStored) await dead.usage.report()
  for (let start = 0; start < 3; start += 1) {
    const registry = await fileRegistry(home, { ...scripted(reporter), usage: usageIn(home) })
    expect((await registry.usage.report()).total).toMatchObject({ turns: 2, cost: [{ amount: 3, currency: 'USD' }] })
    expect((await registry.get(id)).usage).toMatchObject({ turns: 2, tokens: { totalTokens: 200 } })
    await registry.close()
  }
})

test('13.6 a turn that a crash interrupted uses its budget once, and only while its agent lived', async () => {
  const home = await temporaryHome()
  const stores = fileStores(home)
  const hang: Script = async ({ emit, cancelled }) => {
    await emit({ type: 'usage', cost: { amount: 2, currency: 'USD' } }, { type: 'text-delta', text: 'half' })
    await cancelled
  }
  const config = { budgets: { workspaces: { default: { total: { turns: 2 } } } } }
  const options = { adapters, workspaces: constantFolder('/tmp'), hostId: 'h', config }
  const dead = await openSessionRegistry({ ...stores, ...scripted(hang), ...options, usage: usageIn(home) })
  const { id } = await dead.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await settled()
  const registry = await fileRegistry(home, { ...scripted(reporter), ...options, usage: usageIn(home) })
  expect((await registry.usage.report()).total).toMatchObject({
    turns: 1,
    busyMs: 0,
    cost: [{ amount: 2, currency: 'USD' }],
  })
  const next = await registry.spawn({ adapter: 'fake' }, owner)
  await prompt(registry, next.id, '1')
  await expect(registry.prompt(next.id, { prompt: '2' }, owner)).rejects.toMatchObject({ code: 'budget_exceeded' })
  expect(await registry.get(id)).toMatchObject({ status: 'error', usage: { turns: 1 } })
})

const row: UsageRow = {
  day: '2026-11-21',
  session: 's_00000001',
  agent: 'a',
  workspace: 'w',
  seq: 5,
  turns: 1,
  unreported: 0,
  withoutTokens: 0,
  withoutCost: 0,
  busyMs: 10,
  tokens: { inputTokens: 1, totalTokens: 1 },
  cost: [{ amount: 0.1, currency: 'USD' }],
}

test('13.5 the lines of a day that is over are added up, old days are deleted, and a torn line spoils no other', async () => {
  const home = await temporaryHome()
  const directory = join(home, 'usage')
  const problems: string[] = []
  const store = new FileUsageStore({ directory, onProblem: (problem) => problems.push(problem) })
  await store.open('2026-11-21')
  await store.add([{ ...row, day: '2025-01-01' }])
  await store.add([row])
  await appendFile(join(directory, '2026-11-21.jsonl'), '{"day":"2026-11-21","session":"s_0')
  await store.add([{ ...row, seq: 9 }])
  await store.add([{ ...row, model: 'other', seq: 12 }])
  await store.add([{ ...row, day: '2026-11-22', seq: 20 }])
  expect(await readdir(directory)).toEqual(['2026-11-21.jsonl', '2026-11-22.jsonl'])
  const lines = (await readFile(join(directory, '2026-11-21.jsonl'), 'utf8')).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      ...row,
      turns: 2,
      busyMs: 20,
      seq: 9,
      tokens: { inputTokens: 2, totalTokens: 2 },
      cost: [{ amount: 0.2, currency: 'USD' }],
    },
    { ...row, model: 'other', seq: 12 },
  ])
  expect(problems).toEqual([expect.stringContaining('1 line(s)')])
  const next = new FileUsageStore({ directory })
  expect(await next.open('2026-11-22')).toEqual({ since: '2026-11-21', seqs: new Map([['s_00000001', 20]]) })
})

test('13.5 what cannot be stored is reported, counted, and stored with the next turn', async () => {
  const problems: string[] = []
  const stored: UsageRow[] = []
  let isFull = true
  const usage = {
    open: () => Promise.resolve({ seqs: new Map() }),
    add: (rows: readonly UsageRow[]) =>
      isFull ? Promise.reject(new Error('No room')) : Promise.resolve(void stored.push(...rows)),
    async *rows() {
      yield stored
    },
    close: () => Promise.resolve(),
  }
  const onProblem = (problem: string): void => void problems.push(problem)
  const { registry } = await memoryRegistry({ ...scripted(reporter), usage, onProblem })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await prompt(registry, id, '1')
  expect((await registry.usage.report()).total.turns).toBe(1)
  expect(problems).toEqual(['No room'])
  isFull = false
  await prompt(registry, id, '2')
  expect((await registry.usage.report()).total.turns).toBe(2)
  expect(stored).toHaveLength(2)
})

test('13.5 turns that end within a moment are stored in one write, and what waits is stored at the end', async () => {
  const batches: number[] = []
  const usage: UsageStore = {
    open: () => Promise.resolve({ seqs: new Map() }),
    add: (rows) => Promise.resolve(void batches.push(rows.length)),
    async *rows() {},
    close: () => Promise.resolve(),
  }
  const { registry, clock } = await memoryRegistry({ ...scripted(reporter), usage })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  for (const text of ['1', '2', '3']) await prompt(registry, id, text)
  expect(batches).toEqual([])
  await clock.advance(100)
  expect(batches).toEqual([3])
  await prompt(registry, id, '4')
  await registry.close()
  expect(batches).toEqual([3, 1])
})

test('13.5 what a full disk takes of a batch is taken back', async () => {
  const directory = join(await temporaryHome(), 'usage')
  const store = new FileUsageStore({ directory })
  await store.open('2026-11-21')
  await store.add([row])
  const path = join(directory, '2026-11-21.jsonl')
  const before = await readFile(path, 'utf8')
  const full = Object.assign(new Error('No room'), { code: 'ENOSPC' })
  const file = await open(path, 'r')
  const prototype = Object.getPrototypeOf(file) as typeof file
  await file.close()
  const write = vi.spyOn(prototype, 'appendFile').mockImplementationOnce(async function (this: typeof file) {
    await this.write(`${JSON.stringify(row)}\n{"day":`)
    throw full
  })
  onTestFinished(() => write.mockRestore())
  await expect(store.add([row, row])).rejects.toMatchObject({ code: 'storage_failed' })
  expect(await readFile(path, 'utf8')).toBe(before)
})

test('13.6 a record whose budget cannot be read is not one without a budget', async () => {
  const { parseStoredSession } = await import('../src/records/stored-session.js')
  const { storedSession } = await import('./fixtures/stored-session.js')
  expect(parseStoredSession({ ...storedSession, spawn: { budget: 5 } })).toBeUndefined()
  expect(parseStoredSession({ ...storedSession, meter: { seq: 'x' } })).toEqual(storedSession)
})

test('13.5 an event that was counted is not counted again', () => {
  const at = { ts: '2026-11-21T12:00:00.000Z', sessionId: 's_00000001', turn: 1 }
  const events: readonly SessionEvent[] = [
    { ...at, seq: 1, type: 'user-prompt', content: [] },
    { ...at, seq: 2, type: 'usage', cost: { amount: 5, currency: 'USD' } },
    // It has started to count again.
    { ...at, seq: 3, type: 'usage', cost: { amount: 1, currency: 'USD' } },
    { ...at, seq: 4, type: 'turn-end', reason: 'end_turn' },
  ]
  const read = (from: UsageMeter): UsageMeter => events.reduce((meter, event) => measure(meter, event).meter, from)
  const once = read(newMeter())
  expect(once.usage).toMatchObject({ turns: 1, cost: [{ amount: 6, currency: 'USD' }] })
  expect(read(once)).toEqual(once)
})

test('13.5 a report has a bound: sessions beyond ten thousand share one row', async () => {
  const many = Array.from({ length: 10_005 }, (_, i): UsageRow => ({ ...row, session: `s_${i}`, turns: 1 }))
  const usage: UsageStore = {
    open: () => Promise.resolve(undefined),
    add: () => Promise.resolve(),
    async *rows() {
      yield many.slice(0, 6_000)
      yield many.slice(6_000)
    },
    close: () => Promise.resolve(),
  }
  const { registry } = await memoryRegistry({ ...scripted(reporter), usage })
  const { rows, total } = await registry.usage.report({ by: 'session' })
  expect([rows.length, total.turns]).toEqual([10_001, 10_005])
  expect(rows.find(({ key }) => key === undefined)).toMatchObject({ turns: 5 })
})
