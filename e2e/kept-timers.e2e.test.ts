import { expect, test } from 'vitest'
import { agentsIn, allEvents, ofType, startKeeping, textIn } from './support/kept-agents.js'
import { allowOnce, pendingPermission } from './support/pending-request.js'

// Times go on by the clock while no gateway runs.

const INACTIVITY_MS = 12_000

test('16.3 a life, a budget of minutes and a silence that are over while no gateway runs have their effect at once', async () => {
  const config = { sessions: { inactivityMs: INACTIVITY_MS, toolBudgetMs: INACTIVITY_MS, cancelGraceMs: 5_000 } }
  const { home, mark, first, next } = await startKeeping('kept-times', { config })
  const start = { adapter: 'demo', cwd: home, prompt: 'stream 1; hang' } as const
  const { sessions } = first.client
  const mortal = await sessions.start({ ...start, ttlSeconds: 8 })
  const poor = await sessions.start({ ...start, budget: { minutes: 0.1 } })
  const silent = await sessions.start(start)
  const asking = await sessions.start({ ...start, prompt: 'ask waited.txt' })
  const asked = await pendingPermission(first.client, asking.id)
  for (const { id } of [mortal, poor, silent])
    await expect.poll(async () => textIn(await allEvents(first.client, id))).toContain('chunk 1')
  await first.crash()
  const over = Date.now() + INACTIVITY_MS
  await expect.poll(() => Date.now()).toBeGreaterThan(over)

  const { client } = await next()
  const ready = Date.now()
  await expect.poll(async () => (await client.sessions.get(mortal.id)).status).toBe('killed')
  expect(await client.sessions.get(mortal.id)).toMatchObject({ stopReason: 'expired' })
  await expect.poll(async () => (await client.sessions.get(poor.id)).status).toBe('killed')
  expect(await client.sessions.get(poor.id)).toMatchObject({ stopReason: 'budget_exceeded' })
  expect(await client.sessions.waitTurn(silent.id, 1)).toMatchObject({ reason: 'timeout' })
  // Had the next gateway begun to count anew, it would have taken this time.
  for (const { id } of [mortal, poor, silent]) {
    const [end] = ofType(await allEvents(client, id), 'turn-end')
    expect(Date.parse(end?.ts ?? '') - ready).toBeLessThan(INACTIVITY_MS)
    expect(ofType(await allEvents(client, id), 'repair')).toEqual([])
  }
  for (const { id } of [mortal, poor]) expect(agentsIn(mark.living(), id)).toEqual([])
  // The time of a person is not the agent's.
  await client.sessions.answer(asking.id, asked.requestId, { optionId: allowOnce(asked) })
  expect(await client.sessions.waitTurn(asking.id, 1)).toMatchObject({ reason: 'end_turn' })
  // A silent agent that stopped can go on.
  expect(await client.sessions.promptAndWait(silent.id, { prompt: 'hello' })).toMatchObject({ text: 'echo: hello' })
})

test('16.3 a budget that is used up after the adoption ends the turn, and each cost is counted once', async () => {
  const { home, first, next } = await startKeeping('kept-budget')
  const budget = { cost: { amount: 5, currency: 'USD' } }
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home, budget })
  await first.client.sessions.promptAndWait(id, { prompt: 'usage 1 100' })
  await first.client.sessions.prompt(id, {
    prompt: 'usage 2 100; ask spent.txt; usage 4 100; ask again.txt; usage 6; hang',
  })
  const asked = await pendingPermission(first.client, id)
  await first.crash()

  const second = await next()
  expect((await second.client.sessions.get(id)).usage).toMatchObject({ cost: [{ amount: 2, currency: 'USD' }] })
  await second.client.sessions.answer(id, asked.requestId, { optionId: allowOnce(asked) })
  const again = await pendingPermission(second.client, id)
  await second.crash()

  const { client } = await next()
  expect((await client.sessions.get(id)).usage).toMatchObject({ cost: [{ amount: 4, currency: 'USD' }] })
  await client.sessions.answer(id, again.requestId, { optionId: allowOnce(again) })
  expect(await client.sessions.waitTurn(id, 2)).toMatchObject({ reason: 'cancelled' })
  await expect.poll(async () => (await client.sessions.get(id)).status).toBe('killed')
  expect(await client.sessions.get(id)).toMatchObject({ stopReason: 'budget_exceeded' })
  expect((await client.usage()).total).toMatchObject({ turns: 2, cost: [{ amount: 6, currency: 'USD' }] })
})

test('16.3 an idle session hibernates when it is due, counted from its last turn', async () => {
  const { home, mark, first, next } = await startKeeping('kept-idle', { config: { sessions: { idleMs: 4_000 } } })
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  await first.client.sessions.promptAndWait(id, { prompt: 'remember me' })
  const over = Date.now() + 4_000
  await first.crash()
  await expect.poll(() => Date.now()).toBeGreaterThan(over)
  const { client } = await next()
  await expect.poll(async () => (await client.sessions.get(id)).status).toBe('killed')
  expect(await client.sessions.get(id)).toMatchObject({ stopReason: 'idle', resumable: true })
  expect(agentsIn(mark.living(), id)).toEqual([])
  expect((await client.sessions.promptAndWait(id, { prompt: 'recall' })).text).toContain('remember me')
})
