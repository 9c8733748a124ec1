import { expect, test } from 'vitest'
import { startGateway } from './support/gateway.js'

test('F22 kill returns only when a stubborn agent and its stubborn grandchild have ended, soon after the grace periods', async () => {
  const { client, cwd, mark } = await startGateway()
  const { id } = await client.sessions.start({ adapter: 'demo', cwd })
  await client.sessions.promptAndWait(id, { prompt: 'stubborn; fork' })
  expect(mark.living()).toHaveLength(2)
  const startedAt = performance.now()
  expect(await client.sessions.kill(id)).toEqual({ ok: true, id })
  expect(mark.living()).toEqual([])
  // The grace periods are 7.5 s; a busy machine takes longer.
  expect(performance.now() - startedAt).toBeLessThan(20_000)
  expect(await client.sessions.get(id)).toMatchObject({ status: 'killed', stopReason: 'user_canceled' })
})

test('F22 the same during a turn', async () => {
  const { client, cwd, mark } = await startGateway()
  const { id } = await client.sessions.start({ adapter: 'demo', cwd })
  await client.sessions.promptAndWait(id, { prompt: 'stubborn; fork' })
  const { turn } = await client.sessions.prompt(id, { prompt: 'hang!' })
  const startedAt = performance.now()
  await client.sessions.kill(id)
  expect(mark.living()).toEqual([])
  // The grace periods are 7.5 s; a busy machine takes longer.
  expect(performance.now() - startedAt).toBeLessThan(20_000)
  expect(await client.sessions.waitTurn(id, turn)).toMatchObject({ state: 'ended', reason: 'cancelled' })
})
