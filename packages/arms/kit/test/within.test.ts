import { within } from '@agentproto/arm-kit'
import { systemClock } from '@agentproto/contracts'
import { expect, test } from 'vitest'

test('a promise is waited for no longer than its limit, and not after an abort', async () => {
  const never = new Promise<never>(() => {})
  const limit = { ms: 20, clock: systemClock }
  expect(await within(Promise.resolve(7), 'It did not answer', limit)).toBe(7)
  await expect(within(Promise.reject(new Error('no')), 'It did not answer', limit)).rejects.toThrow('no')
  await expect(within(never, 'It did not answer', limit)).rejects.toMatchObject({
    code: 'timeout',
    message: expect.stringContaining('within 20 ms'),
  })
  const aborting = new AbortController()
  const waiting = within(never, 'It did not answer', { ...limit, ms: 60_000, signal: aborting.signal })
  aborting.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled' })
  await expect(within(never, 'It did not answer', { ...limit, signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'cancelled',
  })
})
