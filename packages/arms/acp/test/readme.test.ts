import { acpArm } from '@agentproto/acp'
import { systemClock } from '@agentproto/contracts'
import { type AgentSignal, DEFAULT_ARM_LIMITS } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { fixture } from './connecting.ts'

test('the example of the README', async () => {
  const { launch, signal, client } = fixture('echo')
  const events: AgentSignal[] = []
  const connection = await acpArm.connect({ launch, limits: DEFAULT_ARM_LIMITS, clock: systemClock, signal, client })
  const session = await connection.openSession(
    { cwd: launch.cwd, additionalDirectories: [], mcpServers: [], origin: { how: 'new' } },
    { emit: (batch) => void events.push(...batch), ask: async () => ({ outcome: 'cancelled' }) },
  )
  await session.send([{ type: 'text', text: 'hello' }])
  await connection.close()
  expect(events.map(({ type }) => type)).toEqual(['text-delta', 'turn-end'])
})
