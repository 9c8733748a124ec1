import { proprietaryArm } from '@agentproto/arm-proprietary'
import { launchOf } from '@agentproto/arm-testing'
import { systemClock } from '@agentproto/contracts'
import { type AgentSignal, DEFAULT_ARM_LIMITS } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { capabilities, packagePath } from './connecting.ts'

test('the example of the README', async () => {
  const launch = launchOf([])
  const { signal } = new AbortController()
  const client = { name: 'test', version: '0' }
  const events: AgentSignal[] = []
  const allowed = { 'good-adapter': { version: '1.2.3', module: packagePath('good/index.mjs') } }
  const profile = { adapter: 'good-adapter', allowed, capabilities }
  const options = { launch, limits: DEFAULT_ARM_LIMITS, clock: systemClock, signal, client, profile }
  const connection = await proprietaryArm.connect(options)
  const session = await connection.openSession(
    { cwd: launch.cwd, additionalDirectories: [], mcpServers: [], origin: { how: 'new' } },
    { emit: (batch) => void events.push(...batch), ask: async () => ({ outcome: 'cancelled' }) },
  )
  await session.send([{ type: 'text', text: 'hello' }])
  await connection.close()
  expect(events).toEqual([
    { type: 'text-delta', text: `hello in ${launch.cwd}` },
    { type: 'turn-end', reason: 'end_turn' },
  ])
})
