import { join } from 'node:path'
import { AgentprotoError, type Budget, type Session, type SessionEvent } from '@agentproto/contracts'
import type { EventStore } from '@agentproto/contracts/agent'
import { FileUsageStore, MemoryEventStore, type SessionRegistry } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { measure, newMeter } from '../src/usage/meter.js'
import { settled } from './fixtures/manual-clock.js'
import { type Script, scripted } from './fixtures/scripted-agent.js'
import {
  allEvents,
  constantFolder,
  fileRegistry,
  memoryRegistry,
  owner,
  resumableAdapters,
  temporaryHome,
} from './fixtures/test-registry.js'

// What a session may use, and what happens at 80 % and at the limit.

/** `cost 3` reports a sum of 3 USD and works on; `tokens 5` ends with 5 tokens; anything else just ends. */
const spender: Script = async ({ text, emit, ask, cancelled }) => {
  const [word, amount] = text.split(' ')
  if (word === 'cost') await emit({ type: 'usage', cost: { amount: Number(amount), currency: 'USD' } })
  if (word === 'ask') await ask(permission)
  if (word === 'cost' || word === 'work') await cancelled
  const usage = word === 'tokens' ? { usage: { inputTokens: Number(amount) - 1, outputTokens: 1 } } : {}
  const reason = word === 'cost' || word === 'work' ? 'cancelled' : 'end_turn'
  await emit({ type: 'turn-end', reason, ...usage })
}

const permission = {
  kind: 'permission',
  options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
  toolCall: { type: 'tool-call', toolCallId: 't', title: 'try' },
} as const

async function started(budget: Budget | undefined, config: Parameters<typeof memoryRegistry>[0]['config'] = {}) {
  const { startAgent, agents } = scripted(spender, { load: true })
  const { registry, clock } = await memoryRegistry({ startAgent, adapters: resumableAdapters, config })
  const { id } = await registry.spawn({ adapter: 'fake', ...(budget && { budget }) }, owner)
  return { registry, clock, agents, id }
}

const warnings = async (registry: SessionRegistry, id: string): Promise<string[]> =>
  (await allEvents(registry, id)).flatMap((event) => (event.type === 'runtime-warning' ? [event.message] : []))

async function prompt(registry: SessionRegistry, id: string, text: string): Promise<void> {
  const { turn } = await registry.prompt(id, { prompt: text }, owner)
  await registry.waitTurn(id, turn)
}

async function ended(registry: SessionRegistry, id: string): Promise<Session> {
  await settled()
  return registry.get(id)
}

test('13.6 a budget of two turns ends the third attempt as budget_exceeded', async () => {
  const { registry, id } = await started({ turns: 2 })
  await prompt(registry, id, 'one')
  await prompt(registry, id, 'two')
  expect(await registry.get(id)).toMatchObject({ status: 'running', budget: { turns: 2 }, usage: { turns: 2 } })
  await expect(registry.prompt(id, { prompt: 'three' }, owner)).rejects.toMatchObject({ code: 'budget_exceeded' })
  expect(await ended(registry, id)).toMatchObject({ status: 'killed', stopReason: 'budget_exceeded', turnCount: 2 })
  expect((await warnings(registry, id)).at(-1)).toBe(
    'The budget of this session is used up: 2 of 2 turns: the session ends',
  )
})

test('13.6 a prompt never starts a session again that a budget ended; a resume with a larger budget does', async () => {
  const { registry, id, agents } = await started({ turns: 1 })
  await prompt(registry, id, 'one')
  await expect(registry.prompt(id, { prompt: 'two' }, owner)).rejects.toMatchObject({ code: 'budget_exceeded' })
  await ended(registry, id)
  await expect(registry.prompt(id, { prompt: 'two' }, owner)).rejects.toThrow()
  await expect(registry.resume(id, {}, owner)).rejects.toMatchObject({ code: 'budget_exceeded' })
  await expect(registry.resume(id, { budget: { turns: 1 } }, owner)).rejects.toMatchObject({ code: 'budget_exceeded' })
  expect(agents).toHaveLength(1)
  await registry.resume(id, { budget: { turns: 2 } }, owner)
  await prompt(registry, id, 'two')
  await expect(registry.prompt(id, { prompt: 'three' }, owner)).rejects.toMatchObject({ code: 'budget_exceeded' })
  expect(await ended(registry, id)).toMatchObject({ stopReason: 'budget_exceeded', usage: { turns: 2 } })
})

test('13.6 a session whose budget is used up is not woken by a prompt', async () => {
  const { registry, id, agents, clock } = await started({ turns: 1 })
  await prompt(registry, id, 'one')
  await clock.advance(11 * 60_000)
  expect(await registry.get(id)).toMatchObject({ stopReason: 'idle' })
  await expect(registry.prompt(id, { prompt: 'two' }, owner)).rejects.toMatchObject({ code: 'budget_exceeded' })
  expect(agents).toHaveLength(1)
})

test('13.6 at 80 % of a cost the session is warned once, and at the limit its turn is interrupted', async () => {
  const { registry, id, agents } = await started({ cost: { amount: 5, currency: 'USD' } })
  const { turn } = await registry.prompt(id, { prompt: 'cost 4' }, owner)
  await settled()
  await agents[0]?.sink.emit([{ type: 'usage', cost: { amount: 4.5, currency: 'USD' } }])
  await settled()
  expect(await warnings(registry, id)).toEqual(['The budget of this session is nearly used up: 4 of 5 USD'])
  await agents[0]?.sink.emit([{ type: 'usage', cost: { amount: 5.25, currency: 'USD' } }])
  expect(await registry.waitTurn(id, turn)).toMatchObject({ reason: 'cancelled' })
  expect(await ended(registry, id)).toMatchObject({
    status: 'killed',
    stopReason: 'budget_exceeded',
    usage: { cost: [{ amount: 5.25, currency: 'USD' }] },
  })
  expect(agents[0]?.stops).toBe(1)
})

test('13.6 tokens that a turn reports at its end count, and the session ends with that turn', async () => {
  const { registry, id } = await started({ tokens: 100 })
  await prompt(registry, id, 'tokens 60')
  await prompt(registry, id, 'tokens 60')
  expect(await ended(registry, id)).toMatchObject({
    stopReason: 'budget_exceeded',
    usage: { turns: 2, tokens: { totalTokens: 120 } },
  })
})

test('13.6 minutes are those in which the agent works, and end a turn that goes on', async () => {
  const { registry, id, clock } = await started({ minutes: 10 })
  await registry.prompt(id, { prompt: 'ask' }, owner)
  await settled()
  await clock.advance(4 * 60_000)
  const [request] = await registry.requests(id)
  await registry.answer({ id, requestId: request?.requestId ?? '' }, { outcome: 'selected', optionId: 'yes' }, owner)
  await settled()
  // Nobody worked while a person was asked.
  expect(await registry.get(id)).toMatchObject({ usage: { turns: 1, busyMs: 0 } })
  await registry.prompt(id, { prompt: 'work' }, owner)
  await clock.advance(7 * 60_000)
  expect(await warnings(registry, id)).toEqual([])
  await clock.advance(60_000)
  expect(await warnings(registry, id)).toEqual(['The budget of this session is nearly used up: 8 of 10 minutes'])
  await clock.advance(2 * 60_000 + 1)
  expect(await ended(registry, id)).toMatchObject({ stopReason: 'budget_exceeded' })
})

test('13.6 a queued prompt beyond the budget ends the session, and one is not queued when it is used up', async () => {
  const { registry, id, agents } = await started({ turns: 2 })
  await registry.prompt(id, { prompt: 'work' }, owner)
  await registry.prompt(id, { prompt: 'two', whenBusy: 'queue' }, owner)
  await registry.prompt(id, { prompt: 'three', whenBusy: 'queue' }, owner)
  await agents[0]?.cancel()
  await settled()
  expect(await ended(registry, id)).toMatchObject({
    stopReason: 'budget_exceeded',
    usage: { turns: 2 },
    unsentTurns: 1,
  })
  const other = await started({ turns: 1 })
  await other.registry.prompt(other.id, { prompt: 'work' }, owner)
  const queued = other.registry.prompt(other.id, { prompt: 'two', whenBusy: 'queue' }, owner)
  await expect(queued).rejects.toMatchObject({ code: 'budget_exceeded' })
  expect(await other.registry.get(other.id)).toMatchObject({ status: 'running', turn: { state: 'busy' } })
})

test('13.6 ten sessions that share the budget of a workspace do not overshoot it', async () => {
  const { startAgent } = scripted(spender)
  const budgets = { workspaces: { shop: { day: { turns: 20 } } } }
  const { registry } = await memoryRegistry({
    startAgent,
    config: { budgets },
    workspaces: constantFolder('/tmp', 'shop'),
  })
  const sessions = await Promise.all(Array.from({ length: 10 }, () => registry.spawn({ adapter: 'fake' }, owner)))
  await Promise.all(
    sessions.map(async ({ id }) => {
      for (let turn = 0; turn < 5; turn += 1) await prompt(registry, id, 'go').catch(() => undefined)
    }),
  )
  const all = await Promise.all(sessions.map(({ id }) => ended(registry, id)))
  expect(all.reduce((sum, { usage }) => sum + (usage?.turns ?? 0), 0)).toBe(20)
  expect(new Set(all.map(({ stopReason }) => stopReason))).toEqual(new Set(['budget_exceeded']))
  await expect(registry.spawn({ adapter: 'fake' }, owner)).rejects.toMatchObject({ code: 'budget_exceeded' })
})

test('13.6 the budget of a day has room again the next day', async () => {
  const { registry, id, clock } = await started(undefined, { budgets: { day: { turns: 1 } } })
  await prompt(registry, id, 'one')
  await expect(registry.spawn({ adapter: 'fake' }, owner)).rejects.toMatchObject({ code: 'budget_exceeded' })
  await clock.advance(24 * 60 * 60_000)
  const { id: next } = await registry.spawn({ adapter: 'fake' }, owner)
  await prompt(registry, next, 'two')
  expect(await registry.get(next)).toMatchObject({ usage: { turns: 1 } })
})

test('13.6 what an agent starts uses the budget of the session that started it', async () => {
  const { registry, id } = await started({ turns: 2 }, {})
  const parent = await registry.spawn({ adapter: 'fake', budget: { turns: 2 }, delegation: {} }, owner)
  const agent = { type: 'session', name: parent.id, sessionId: parent.id, delegates: true } as const
  const child = await registry.spawn({ adapter: 'fake' }, agent)
  await prompt(registry, child.id, 'one')
  await prompt(registry, child.id, 'two')
  await expect(registry.spawn({ adapter: 'fake' }, agent)).rejects.toMatchObject({ code: 'budget_exceeded' })
  await expect(registry.prompt(parent.id, { prompt: 'three' }, owner)).rejects.toMatchObject({
    code: 'budget_exceeded',
  })
  expect(await registry.get(id)).toMatchObject({ status: 'running' })
})

test('13.6 a session has a warning when its agent does not report what its budget limits', async () => {
  const { registry, id } = await started({ tokens: 10, cost: { amount: 1, currency: 'EUR' } })
  await prompt(registry, id, 'one')
  await prompt(registry, id, 'two')
  expect(await warnings(registry, id)).toEqual([
    'The agent reports no cost in EUR, so the budget of it cannot be kept',
    'The agent reports no tokens, so the budget of it cannot be kept',
  ])
})

test('13.6 a budget of the configuration holds for each session that names none', async () => {
  const { registry, id } = await started(undefined, { budgets: { session: { turns: 1 } } })
  await prompt(registry, id, 'one')
  await expect(registry.prompt(id, { prompt: 'two' }, owner)).rejects.toMatchObject({ code: 'budget_exceeded' })
  const other = await registry.spawn({ adapter: 'fake', budget: { turns: 2 } }, owner)
  await prompt(registry, other.id, 'one')
  await prompt(registry, other.id, 'two')
})

test('13.6 a turn that could not be logged uses nothing', async () => {
  const logs = new MemoryEventStore()
  let isFull = false
  const open: EventStore['open'] = async (id) => {
    const opened = await logs.open(id)
    const { log } = opened
    const append = log.append.bind(log)
    log.append = (batch) => (isFull ? Promise.reject(new AgentprotoError('storage_failed', 'No room')) : append(batch))
    return opened
  }
  const store: EventStore = { open, delete: (id) => logs.delete(id) }
  const { registry } = await memoryRegistry({ ...scripted(spender), logs: store })
  const { id } = await registry.spawn({ adapter: 'fake', budget: { turns: 1 } }, owner)
  isFull = true
  await expect(registry.prompt(id, { prompt: 'x' }, owner)).rejects.toMatchObject({ code: 'storage_failed' })
  isFull = false
  await prompt(registry, id, 'one')
  await expect(registry.prompt(id, { prompt: 'two' }, owner)).rejects.toMatchObject({ code: 'budget_exceeded' })
})

test('13.6 a flood of costs in one batch counts as its last sum, and ends the session once', async () => {
  const flood: Script = async ({ emit, cancelled }) => {
    const costs = Array.from({ length: 20_000 }, (_, i) => ({ amount: (i + 1) / 1_000, currency: 'USD' }))
    await emit(...costs.map((cost) => ({ type: 'usage', cost }) as const))
    await cancelled
    await emit({ type: 'turn-end', reason: 'cancelled' })
  }
  const { registry } = await memoryRegistry(scripted(flood))
  const { id } = await registry.spawn({ adapter: 'fake', budget: { cost: { amount: 10, currency: 'USD' } } }, owner)
  await prompt(registry, id, 'go')
  expect(await ended(registry, id)).toMatchObject({
    stopReason: 'budget_exceeded',
    usage: { cost: [{ amount: 20, currency: 'USD' }] },
  })
  expect(await warnings(registry, id)).toEqual([
    'The budget of this session is used up: 20 of 10 USD: the session ends',
  ])
})

test('13.6 work that an agent reports while a person is asked costs minutes, and the time in which it is silent does not', async () => {
  const { startAgent, agents } = scripted(spender)
  const { registry, clock } = await memoryRegistry({ startAgent, config: { requestTimeoutMs: 2 * 60 * 60_000 } })
  const { id } = await registry.spawn({ adapter: 'fake', budget: { minutes: 10 } }, owner)
  await registry.prompt(id, { prompt: 'ask' }, owner)
  await settled()
  await clock.advance(60 * 60_000)
  const work = async (): Promise<void> => {
    await clock.advance(30_000)
    await agents[0]?.sink.emit([{ type: 'thought', text: 'and meanwhile' }])
    await settled()
  }
  // Of the silent time only the last minute before its first sign of work.
  await work()
  expect(await warnings(registry, id)).toEqual([])
  for (let at = 0; at < 14; at += 1) await work()
  expect(await warnings(registry, id)).toEqual(['The budget of this session is nearly used up: 8 of 10 minutes'])
  for (let at = 0; at < 4; at += 1) await work()
  expect(await ended(registry, id)).toMatchObject({ stopReason: 'budget_exceeded' })
})

test('13.6 work beside an open request counts once, from the answer to another one on', () => {
  const at = (seq: number, minute: number, event: Partial<SessionEvent>) =>
    ({ seq, sessionId: 's', ts: new Date(minute * 60_000).toISOString(), turn: 1, ...event }) as SessionEvent
  const events = [
    at(1, 0, { type: 'user-prompt', content: [] }),
    at(2, 1, { type: 'agent-prompt', requestId: 'a' }),
    at(3, 2, { type: 'agent-prompt', requestId: 'b' }),
    at(4, 90, { type: 'agent-prompt-resolved', requestId: 'a' }),
    at(5, 90.5, { type: 'tool-call', toolCallId: 't' }),
    at(6, 91, { type: 'tool-result', toolCallId: 't' }),
    at(7, 200, { type: 'agent-prompt-resolved', requestId: 'b' }),
    at(8, 202, { type: 'turn-end', reason: 'end_turn' }),
  ]
  const meter = events.reduce((before, event) => measure(before, event).meter, newMeter())
  // One before the requests, one beside the second, two after it.
  expect(meter.usage.busyMs).toBe(4 * 60_000)
  expect(events.reduce((before, event) => measure(before, event).meter, meter)).toEqual(meter)
})

/** Two sessions of a workspace that share 50 USD of a day. */
async function sharing(store = {}) {
  const { startAgent, agents } = scripted(spender)
  const budgets = { workspaces: { shop: { day: { cost: { amount: 50, currency: 'USD' } } } } }
  const { registry } = await memoryRegistry({
    startAgent,
    config: { budgets },
    workspaces: constantFolder('/tmp', 'shop'),
    ...store,
  })
  const start = async (): Promise<string> => (await registry.spawn({ adapter: 'fake' }, owner)).id
  return { registry, agents, start }
}

test('13.6 a cost that nobody can believe ends the session that reported it, not those that share its budget', async () => {
  const { registry, start } = await sharing()
  const [liar, other] = [await start(), await start()]
  await prompt(registry, liar, 'cost 1000000')
  expect(await ended(registry, liar)).toMatchObject({ status: 'killed', stopReason: 'budget_exceeded' })
  expect(await warnings(registry, liar)).toEqual([
    'The budget of the workspace shop for this day is used up: 1000000 of 50 USD, of which this session reported more at once than the whole budget; 999990 USD do not count for others: the session ends',
  ])
  await prompt(registry, other, 'one')
  expect(await registry.get(other)).toMatchObject({ status: 'running' })
  // What may be true after all uses the budget up: four more such sessions, and there is no room.
  for (let more = 0; more < 4; more += 1) await prompt(registry, await start(), 'cost 60')
  await expect(start()).rejects.toMatchObject({ code: 'budget_exceeded' })
  await expect(registry.prompt(other, { prompt: 'two' }, owner)).rejects.toThrow()
  expect(await ended(registry, other)).toMatchObject({ stopReason: 'budget_exceeded' })
})

test('13.6 what is not believed is not believed by the next gateway either, after a close or a crash', async () => {
  for (const isStored of [true, false]) {
    const home = await temporaryHome()
    const budgets = { workspaces: { shop: { total: { cost: { amount: 50, currency: 'USD' } } } } }
    const options = () => ({
      ...scripted(spender),
      config: { budgets },
      workspaces: constantFolder('/tmp', 'shop'),
      hostId: 'h',
      usage: new FileUsageStore({ directory: join(home, 'usage') }),
    })
    const before = await fileRegistry(home, options())
    const [honest, liar] = [
      await before.spawn({ adapter: 'fake' }, owner),
      await before.spawn({ adapter: 'fake' }, owner),
    ]
    await prompt(before, honest.id, 'one')
    await before.usage.report()
    await prompt(before, liar.id, 'cost 1000')
    await ended(before, liar.id)
    // Rows are stored by a timer, or when somebody reads them.
    if (isStored) await before.usage.report()
    const after = await fileRegistry(home, options())
    await after.spawn({ adapter: 'fake' }, owner)
    const { total } = await after.usage.report()
    expect(total).toMatchObject({ turns: 2, cost: [{ amount: 1000, currency: 'USD' }] })
  }
})

test('13.6 who used up a budget that is shared is named', async () => {
  const { registry, start } = await sharing()
  const [big, small] = [await start(), await start()]
  await registry.prompt(small, { prompt: 'cost 5' }, owner)
  await registry.prompt(big, { prompt: 'cost 46' }, owner)
  expect(await ended(registry, big)).toMatchObject({ stopReason: 'budget_exceeded' })
  expect((await warnings(registry, big)).at(-1)).toBe(
    `The budget of the workspace shop for this day is used up: 51 of 50 USD, 46 of them reported by the session ${big}: the session ends`,
  )
  await expect(start()).rejects.toThrow(`46 of them reported by the session ${big}`)
})

test('13.6 a reported cost that does not count is warned of once, and so are costs beside the currency of the budget', async () => {
  const odd: Script = async ({ emit }) => {
    const report = (amount: number, currency: string) => ({ type: 'usage', cost: { amount, currency } }) as const
    await emit(report(-5, 'USD'), report(Number.NaN, 'USD'), report(1e300, 'USD'), report(1, 'Dollars'))
    await emit(report(1, 'USD'), report(9, 'EUR'))
    await emit({ type: 'turn-end', reason: 'end_turn' })
  }
  const { registry } = await memoryRegistry(scripted(odd))
  const { id } = await registry.spawn({ adapter: 'fake', budget: { cost: { amount: 5, currency: 'USD' } } }, owner)
  await prompt(registry, id, 'go')
  await settled()
  expect(await warnings(registry, id)).toEqual([
    'The agent reported a cost with an amount or a currency that is none: it does not count',
    'The agent reports costs in EUR beside USD, so the budget of it cannot be kept',
  ])
})

test('13.6 an agent whose sum goes up and down pays for each step up', async () => {
  const saw: Script = async ({ emit, cancelled }) => {
    for (let step = 0; step < 3; step += 1)
      await emit(
        { type: 'usage', cost: { amount: 2, currency: 'USD' } },
        { type: 'usage', cost: { amount: 0, currency: 'USD' } },
      )
    await cancelled
    await emit({ type: 'turn-end', reason: 'cancelled' })
  }
  const { registry } = await memoryRegistry(scripted(saw))
  const { id } = await registry.spawn({ adapter: 'fake', budget: { cost: { amount: 6, currency: 'USD' } } }, owner)
  await prompt(registry, id, 'go')
  expect(await ended(registry, id)).toMatchObject({ stopReason: 'budget_exceeded' })
})
