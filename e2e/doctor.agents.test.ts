import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { examine, LIVE_CHECKS, verdictOf, wrong } from './support/examination.js'
import { startOpenCodeGateway } from './support/opencode.js'

test('OpenCode passes the live checks with a mock model', needs('opencode'), async () => {
  const { client, mark } = await startOpenCodeGateway()
  const checks = await examine(client, 'opencode', { live: true, prompt: 'hello', longPrompt: 'SLOW 100' })
  expect(wrong(checks)).toEqual([])
  expect(LIVE_CHECKS.map((id) => [id, verdictOf(checks, id)])).toEqual(LIVE_CHECKS.map((id) => [id, 'ok']))
  expect(checks).toContainEqual(expect.objectContaining({ id: 'version', found: '1.18.33', verdict: 'ok' }))
  expect(checks).toContainEqual(expect.objectContaining({ id: 'capability.resumable', declared: 'yes', found: 'yes' }))
  expect(mark.living()).toEqual([])
})
