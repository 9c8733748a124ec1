import { expect, test } from 'vitest'
import { examine, LIVE_CHECKS, verdictOf, wrong } from './support/examination.js'
import { startGateway } from './support/gateway.js'

// The examination of an agent, as anybody sees it: over HTTP, one finding after the other.

test('the demo agent passes, alive', async () => {
  const { client, mark } = await startGateway()
  const checks = await examine(client, 'demo', { live: true })
  expect(wrong(checks)).toEqual([])
  expect(LIVE_CHECKS.map((id) => [id, verdictOf(checks, id)])).toEqual(LIVE_CHECKS.map((id) => [id, 'ok']))
  expect(mark.living()).toEqual([])
})

test('an agent that is not there is found out, and nothing is started', async () => {
  const { client, mark } = await startGateway({ executables: { opencode: '/no/such/opencode' } })
  const checks = await examine(client, 'opencode', { live: true })
  expect(wrong(checks)).toMatchObject([{ id: 'install', hint: 'agentproto adapters install opencode' }])
  expect(checks.at(-1)).toMatchObject({ id: 'live', verdict: 'skip' })
  expect(mark.living()).toEqual([])
})

test('whoever leaves the examination ends the agent that it started', async () => {
  const { client, mark } = await startGateway()
  for await (const { id } of client.adapters.doctor('demo', { live: true, longPrompt: 'hang' })) {
    if (id === 'live.prompt') break
  }
  await expect.poll(() => mark.living(), { timeout: 20_000 }).toEqual([])
})
