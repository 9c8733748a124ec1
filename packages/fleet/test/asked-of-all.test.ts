import type { RequestPage } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { ManualClock } from '../../session-registry/test/fixtures/manual-clock.ts'
import { HostCalls } from '../src/calls/host-calls.ts'
import { askForList } from '../src/services/asked-of-all.ts'

test('17.2 a list of all hosts does not wait for one that has just been lost, and names it', async () => {
  const clock = new ManualClock()
  const page: RequestPage = { requests: [] }
  const to = (host: string): HostCalls =>
    new HostCalls(host, {
      run: () => (host === 'b' ? new Promise(() => undefined) : Promise.resolve({ value: page })),
      open: () => Promise.reject(new Error('Nothing is read')),
    })
  const asked = askForList(
    { host: 'a', clock, owners: { others: ['b', 'c'] }, calls: { to } },
    async () => page,
    (other) => other.value('sessions.waiting', [{}, undefined]),
  )
  await clock.advance(3_000)
  expect(await asked).toEqual({
    answers: [
      { host: 'a', answer: page },
      { host: 'c', answer: page },
    ],
    unanswered: [{ host: 'b', problem: expect.stringContaining('host_unreachable') }],
  })
})
