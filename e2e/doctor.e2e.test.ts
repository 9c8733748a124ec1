import type { Client } from '@agentproto/client'
import type { DoctorCheck, DoctorRequest } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { startGateway } from './support/gateway.js'
import { startOpenCodeGateway } from './support/opencode.js'

// The examination of an agent, as anybody sees it: over HTTP, one finding after the other.

const LIVE = ['start', 'prompt', 'interrupt', 'end', 'resume', 'resumed-prompt'].map((name) => `live.${name}`)

async function examine(client: Client, slug: string, request: DoctorRequest = {}): Promise<DoctorCheck[]> {
  const checks: DoctorCheck[] = []
  for await (const check of client.adapters.doctor(slug, request)) checks.push(check)
  return checks
}

const wrong = (checks: readonly DoctorCheck[]): DoctorCheck[] => checks.filter(({ verdict }) => verdict === 'fail')
const verdictOf = (checks: readonly DoctorCheck[], id: string) => checks.find((check) => check.id === id)?.verdict

test('the demo agent passes, alive', async () => {
  const { client, mark } = await startGateway()
  const checks = await examine(client, 'demo', { live: true })
  expect(wrong(checks)).toEqual([])
  expect(LIVE.map((id) => [id, verdictOf(checks, id)])).toEqual(LIVE.map((id) => [id, 'ok']))
  expect(mark.living()).toEqual([])
})

test('OpenCode passes, alive, with a mock model', async () => {
  const { client, mark } = await startOpenCodeGateway()
  const checks = await examine(client, 'opencode', { live: true, prompt: 'hello', longPrompt: 'SLOW 100' })
  expect(wrong(checks)).toEqual([])
  expect(LIVE.map((id) => [id, verdictOf(checks, id)])).toEqual(LIVE.map((id) => [id, 'ok']))
  expect(checks).toContainEqual(expect.objectContaining({ id: 'version', found: '1.18.33', verdict: 'ok' }))
  expect(checks).toContainEqual(expect.objectContaining({ id: 'capability.resumable', declared: 'yes', found: 'yes' }))
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
