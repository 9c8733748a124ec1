import { mcpArm } from '@agentproto/arm-mcp'
import { fixtureLaunch } from '@agentproto/arm-testing'
import { systemClock } from '@agentproto/contracts'
import { type AgentSignal, DEFAULT_ARM_LIMITS } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'

test('the example of the README', async () => {
  const launch = fixtureLaunch('mcp', 'well')
  const { signal } = new AbortController()
  const client = { name: 'test', version: '0' }
  const events: AgentSignal[] = []
  const connection = await mcpArm.connect({ launch, limits: DEFAULT_ARM_LIMITS, clock: systemClock, signal, client })
  const session = await connection.openSession(
    { cwd: launch.cwd, additionalDirectories: [], mcpServers: [], origin: { how: 'new' } },
    { emit: (batch) => void events.push(...batch), ask: async () => ({ outcome: 'cancelled' }) },
  )
  await session.send([{ type: 'text', text: 'hello' }])
  await connection.close()
  // Without a mapping, what a vendor says is kept as it is, and the answer is its result.
  expect(events.map(({ type }) => type)).toEqual(['extension', 'text-delta', 'turn-end'])
  expect(session.agentSessionId).toBe('thread-1')
})
