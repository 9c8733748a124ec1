import { expect, test } from 'vitest'
import { ManualClock } from '../../session-registry/test/fixtures/manual-clock.ts'
import { askAll, inTime } from '../src/services/asked-of-all.ts'

test('17.2 a list of all hosts does not wait for one that has just been lost, and names it', async () => {
  const clock = new ManualClock()
  const own = { host: 'a', answer: async () => 1 }
  const asked = askAll(own, ['b', 'c'], (host) =>
    inTime(host, host === 'b' ? new Promise<number>(() => undefined) : Promise.resolve(3), clock),
  )
  await clock.advance(3_000)
  expect(await asked).toEqual({
    answers: [
      { host: 'a', answer: 1 },
      { host: 'c', answer: 3 },
    ],
    unanswered: [{ host: 'b', problem: expect.stringContaining('host_unreachable') }],
  })
})
