import { expect, test } from 'vitest'
import { examine, LIVE_CHECKS, verdictOf, wrong } from './support/examination.js'
import { startGateway } from './support/gateway.js'

// The checks of an agent over HTTP, one result after the other.

test('the demo agent passes the live checks', async () => {
  const { client, mark } = await startGateway()
  const checks = await examine(client, 'demo', { live: true })
  expect(wrong(checks)).toEqual([])
  expect(LIVE_CHECKS.map((id) => [id, verdictOf(checks, id)])).toEqual(LIVE_CHECKS.map((id) => [id, 'ok']))
  expect(mark.living()).toEqual([])
})

test('a missing agent is reported, and nothing is started', async () => {
  const { client, mark } = await startGateway({ executables: { opencode: '/no/such/opencode' } })
  const checks = await examine(client, 'opencode', { live: true })
  expect(wrong(checks)).toMatchObject([{ id: 'install', hint: 'agentproto adapters install opencode' }])
  expect(checks.at(-1)).toMatchObject({ id: 'live', verdict: 'skip' })
  expect(mark.living()).toEqual([])
})

test('a client that disconnects during the checks ends the agent that they started', async () => {
  const { client, mark } = await startGateway()
  for await (const { id } of client.adapters.doctor('demo', { live: true, longPrompt: 'hang' })) {
    if (id === 'live.prompt') break
  }
  await expect.poll(() => mark.living(), { timeout: 20_000 }).toEqual([])
})
