import { writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '@agentproto/client'
import { expect, test } from 'vitest'
import { startDaemon } from './support/daemon.js'
import { shopRepository } from './support/reviewed-work.js'
import { temporaryFolder } from './support/temporary-folder.js'

/** A home whose gateway has this configuration. */
async function homeWith(name: string, config: object): Promise<string> {
  const home = temporaryFolder(name)
  await mkdir(join(home, '.agentproto'), { mode: 0o700 })
  writeFileSync(join(home, '.agentproto', 'config.json'), JSON.stringify(config), { mode: 0o600 })
  return home
}

const ended = (client: Client, id: string) =>
  expect.poll(async () => (await client.sessions.get(id)).status, { timeout: 30_000 }).toBe('killed')

test('13.6 a budget of two turns ends the third attempt of a real agent as budget_exceeded', async () => {
  const home = temporaryFolder('budget')
  const { client } = await startDaemon({ home })
  const { id } = await client.sessions.start({ adapter: 'demo', cwd: home, budget: { turns: 2 } })
  await client.sessions.promptAndWait(id, { prompt: 'usage 1 100' })
  await client.sessions.promptAndWait(id, { prompt: 'usage 3 100' })
  await expect(client.sessions.prompt(id, { prompt: 'three' })).rejects.toMatchObject({ code: 'budget_exceeded' })
  await ended(client, id)
  expect(await client.sessions.get(id)).toMatchObject({
    stopReason: 'budget_exceeded',
    usage: { turns: 2, unreported: 0, cost: [{ amount: 3, currency: 'USD' }], tokens: { totalTokens: 220 } },
  })
  // A prompt does not wake it; a larger budget does, and the conversation goes on.
  await expect(client.sessions.prompt(id, { prompt: 'three' })).rejects.toThrow()
  await client.sessions.resume(id, { budget: { turns: 3 } })
  expect(await client.sessions.promptAndWait(id, { prompt: 'recall' })).toMatchObject({
    text: expect.stringContaining('usage 3 100') as string,
  })
  expect(await client.usage({ by: 'model' })).toMatchObject({
    rows: [{ key: 'demo-1', turns: 3, unreported: 1, withoutCost: 1 }],
  })
})

test('13.6 a cost beyond the budget interrupts the turn', async () => {
  const home = temporaryFolder('cost')
  const { client } = await startDaemon({ home })
  const budget = { cost: { amount: 5, currency: 'USD' } }
  const { id } = await client.sessions.start({ adapter: 'demo', cwd: home, budget })
  expect(await client.sessions.promptAndWait(id, { prompt: 'usage 6; hang' })).toMatchObject({ reason: 'cancelled' })
  await ended(client, id)
  expect(await client.sessions.get(id)).toMatchObject({ stopReason: 'budget_exceeded', status: 'killed' })
})

test('13.6 an agent that loops ends as loop_detected', async () => {
  const home = temporaryFolder('loop')
  const { client } = await startDaemon({ home })
  for (const prompt of ['loop 20; hang', 'loop 20 2; hang']) {
    const { id } = await client.sessions.start({ adapter: 'demo', cwd: home, loops: { stopAfter: 10 } })
    await client.sessions.promptAndWait(id, { prompt })
    await ended(client, id)
    expect(await client.sessions.get(id)).toMatchObject({ stopReason: 'loop_detected' })
    const { events } = await client.sessions.eventsPage(id, 0)
    const warnings = events.flatMap((event) => (event.type === 'runtime-warning' ? [event.message] : []))
    expect(warnings).toEqual([
      expect.stringMatching(/^The agent repeated the call Look [12] with the same result 5 times$/),
      expect.stringMatching(/^The agent repeated the call Look [12] .*: the session ends after 10 times$/),
    ])
  }
})

test('13.6 ten sessions that share twenty turns of a workspace use twenty, and a killed gateway counts none twice', async () => {
  const home = await homeWith('shared', { sessions: { budgets: { workspaces: { shop: { total: { turns: 20 } } } } } })
  const first = await startDaemon({ home })
  await first.client.workspaces.add({ path: home, slug: 'shop' })
  const start = (client: Client) => client.sessions.start({ adapter: 'demo', workspaceSlug: 'shop' })
  const ids = await Promise.all(Array.from({ length: 10 }, async () => (await start(first.client)).id))
  await Promise.all(ids.map((id) => first.client.sessions.promptAndWait(id, { prompt: 'usage 1 10' })))
  await first.crash()

  const second = await startDaemon({ home })
  const total = async (): Promise<object> => (await second.client.usage({ by: 'workspace' })).total
  const turns = { unreported: 0, tokens: { inputTokens: 100 }, cost: [{ amount: 10, currency: 'USD' }] }
  expect(await total()).toMatchObject({ turns: 10, ...turns })
  const again = await Promise.all(Array.from({ length: 10 }, async () => (await start(second.client)).id))
  const refusals = await Promise.all(
    again.map(async (id) => {
      for (let turn = 0; ; turn += 1) {
        const error = await second.client.sessions.promptAndWait(id, { prompt: 'hello' }).catch((e: unknown) => e)
        if (error instanceof Error) return error
      }
    }),
  )
  expect(new Set(refusals.map((error) => 'code' in error && error.code))).toEqual(new Set(['budget_exceeded']))
  expect(await total()).toMatchObject({ turns: 20, unreported: 10 })
  await expect(start(second.client)).rejects.toMatchObject({ code: 'budget_exceeded' })
  await second.crash()
  const third = await startDaemon({ home })
  expect((await third.client.usage()).total).toMatchObject({ turns: 20, unreported: 10, cost: turns.cost })
  await expect(start(third.client)).rejects.toMatchObject({ code: 'budget_exceeded' })
})

test('13.6 many costs within one turn do not get past a budget, and none is lost', async () => {
  const home = temporaryFolder('steps')
  const { client } = await startDaemon({ home })
  const budget = { cost: { amount: 5, currency: 'USD' } }
  const { id } = await client.sessions.start({ adapter: 'demo', cwd: home, budget })
  const steps = Array.from({ length: 60 }, (_, step) => `usage ${(step + 1) / 10}`)
  expect(await client.sessions.promptAndWait(id, { prompt: `${steps.join('; ')}; hang` })).toMatchObject({
    reason: 'cancelled',
  })
  await ended(client, id)
  const { stopReason, usage } = await client.sessions.get(id)
  expect(stopReason).toBe('budget_exceeded')
  const [spent] = usage?.cost ?? []
  expect(spent?.amount).toBeGreaterThanOrEqual(5)
  expect(spent?.amount).toBeLessThanOrEqual(6)
})

test('13.6 an agent that starts agents uses its own budget with them, and they cannot raise it', async () => {
  const home = temporaryFolder('children')
  const { client } = await startDaemon({ home })
  const start = { adapter: 'demo', cwd: home, budget: { turns: 3 }, delegation: { maxChildren: 5 } } as const
  const { id } = await client.sessions.start(start)
  const { text } = await client.sessions.promptAndWait(id, { prompt: 'delegate one | two | three | four' })
  // Its own turn, and two of the child's: the third is refused.
  expect(text).toMatch(/said: echo: two[^]*used up: 3 of 3 turns/)
  expect(text).not.toMatch(/said: echo: three/)
  await expect(client.sessions.prompt(id, { prompt: 'more' })).rejects.toMatchObject({ code: 'budget_exceeded' })
  await ended(client, id)
  const { id: other } = await client.sessions.start(start)
  const raised = JSON.stringify({ adapter: 'demo', prompt: 'one', budget: { turns: 100 } })
  await client.sessions.promptAndWait(other, { prompt: `call start_agent_session ${raised}` })
  await client.sessions.promptAndWait(other, { prompt: 'two' })
  const refused = await client.sessions.prompt(other, { prompt: 'three' }).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'budget_exceeded' })
})

test('13.6 a fork, a resume, a worktree and a second gateway do not get past what a workspace may use', async () => {
  const shop = shopRepository()
  const home = await homeWith('ways', { sessions: { budgets: { workspaces: { shop: { total: { turns: 4 } } } } } })
  const { client, crash } = await startDaemon({ home })
  await client.workspaces.add({ path: shop, slug: 'shop' })
  const start = { adapter: 'demo', workspaceSlug: 'shop' } as const
  const { id } = await client.sessions.start(start)
  await client.sessions.promptAndWait(id, { prompt: 'one' })
  const { id: fork } = await client.sessions.fork(id)
  await client.sessions.promptAndWait(fork, { prompt: 'two' })
  const { id: apart } = await client.sessions.start({ ...start, worktree: true })
  await client.sessions.promptAndWait(apart, { prompt: 'three' })
  await client.sessions.kill(id)
  await client.sessions.resume(id)
  await client.sessions.promptAndWait(id, { prompt: 'four' })
  const over = { code: 'budget_exceeded' }
  for (const each of [fork, apart])
    await expect(client.sessions.prompt(each, { prompt: 'five' })).rejects.toMatchObject(over)
  await expect(client.sessions.start({ ...start, worktree: true })).rejects.toMatchObject(over)
  await expect(client.sessions.start({ adapter: 'demo', cwd: shop })).rejects.toMatchObject(over)
  await expect(client.sessions.fork(id)).rejects.toMatchObject(over)
  await client.sessions.kill(id)
  await expect(client.sessions.resume(id)).rejects.toMatchObject(over)
  // A budget of its own does not replace that of the workspace.
  await expect(client.sessions.resume(id, { budget: { turns: 100 } })).rejects.toMatchObject(over)
  await expect(startDaemon({ home })).rejects.toThrow(/home/)
  await crash()
  const next = await startDaemon({ home })
  await expect(next.client.sessions.start(start)).rejects.toMatchObject(over)
})

test('13.6 a false cost of one agent ends its session and no other of the workspace', async () => {
  const cost = { amount: 5, currency: 'USD' }
  const home = await homeWith('false', { sessions: { budgets: { workspaces: { shop: { day: { cost } } } } } })
  const { client } = await startDaemon({ home })
  await client.workspaces.add({ path: home, slug: 'shop' })
  const start = { adapter: 'demo', workspaceSlug: 'shop' } as const
  const [liar, other] = [await client.sessions.start(start), await client.sessions.start(start)]
  await client.sessions.promptAndWait(liar.id, { prompt: 'usage 1000000; hang' })
  await ended(client, liar.id)
  expect(await client.sessions.promptAndWait(other.id, { prompt: 'hello' })).toMatchObject({ reason: 'end_turn' })
  expect(await client.sessions.promptAndWait(other.id, { prompt: 'usage -5; usage 0.5' })).toMatchObject({
    reason: 'end_turn',
  })
  const { events } = await client.sessions.eventsPage(other.id, 0)
  expect(events).toContainEqual(
    expect.objectContaining({
      type: 'runtime-warning',
      message: 'The agent reported a cost with an amount or a currency that is none: it does not count',
    }),
  )
})
