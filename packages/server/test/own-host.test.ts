import { AgentprotoError, type WorkspaceService } from '@agentproto/contracts'
import type { AdapterService, SessionService } from '@agentproto/contracts/wire'
import { ownHost } from '@agentproto/server'
import { expect, test } from 'vitest'
import { FakeClock } from '../../gateway-http/test/fake-clock.ts'

function hostWith() {
  const installed = ['demo']
  const live = ['a']
  let reads = 0
  const clock = new FakeClock()
  const host = ownHost({
    name: 'desk',
    version: '1.0.0',
    labels: {},
    maxSessions: 3,
    clock,
    sessions: { list: async () => ({ sessions: live }) } as unknown as SessionService,
    workspaces: { list: async () => ({ workspaces: [{ slug: 'shop' }] }) } as unknown as WorkspaceService,
    adapters: {
      async list() {
        reads += 1
        if (installed.length === 0) throw new AgentprotoError('storage_failed', 'The folder cannot be read')
        return ['demo', 'other'].map((slug) => ({ slug, installed: installed.includes(slug) }))
      },
    } as unknown as AdapterService,
  })
  return { host, clock, installed, live, reads: () => reads }
}

test('17.5 a heartbeat says how many sessions run now, and looks for agents only each quarter of a minute', async () => {
  const { host, clock, installed, live, reads } = hostWith()
  expect(await host.recent()).toMatchObject([{ liveSessions: 1, freeSessions: 2, adapters: ['demo'] }])
  installed.push('other')
  live.push('b')
  for (let beat = 0; beat < 4; beat += 1) {
    clock.advance(3_333)
    expect(await host.recent()).toMatchObject([{ liveSessions: 2, freeSessions: 1, adapters: ['demo'] }])
  }
  expect(reads()).toBe(1)
  clock.advance(3_333)
  expect(await host.recent()).toMatchObject([{ adapters: ['demo', 'other'] }])
  expect(reads()).toBe(2)
})

test('17.5 who asks for this host itself gets what is installed now, and so does the next heartbeat', async () => {
  const { host, installed, reads } = hostWith()
  await host.recent()
  installed.push('other')
  expect(await host.list()).toMatchObject([{ adapters: ['demo', 'other'] }])
  expect(await host.recent()).toMatchObject([{ adapters: ['demo', 'other'] }])
  expect(reads()).toBe(2)
})

test('17.5 a clock that is set back, and agents that cannot be looked for, leave nothing old', async () => {
  const { host, clock, installed } = hostWith()
  await host.recent()
  installed.push('other')
  clock.advance(-3_600_000)
  expect(await host.recent()).toMatchObject([{ adapters: ['demo', 'other'] }])
  installed.length = 0
  clock.advance(15_000)
  await expect(host.recent()).rejects.toThrow('cannot be read')
  installed.push('demo')
  expect(await host.recent()).toMatchObject([{ adapters: ['demo'] }])
})
