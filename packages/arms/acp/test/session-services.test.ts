import { systemClock } from '@agentproto/contracts'
import { type AgentSink, DEFAULT_ARM_LIMITS } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { SessionServices } from '../src/session-services.ts'

const sink: AgentSink = {
  emit: () => undefined,
  ask: () => Promise.reject(new Error('nothing is asked')),
}

test('what is done for a session that is opened again while it closes is not forgotten', async () => {
  const services = new SessionServices({
    serve: { fs: true },
    launch: { command: '/bin/true', args: [], cwd: '/', env: {}, marker: 'm' },
    limits: DEFAULT_ARM_LIMITS,
    clock: systemClock,
  })
  const create = () => services.create({ cwd: '/', additionalDirectories: [] }, sink)
  const first = create()
  services.opened('s', first)
  services.closed('s')
  services.opened('s', create())
  await first?.close()
  await new Promise((resolve) => setImmediate(resolve))
  expect(services.close()).toBeInstanceOf(Promise)
})
