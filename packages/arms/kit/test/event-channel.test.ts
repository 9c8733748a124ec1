import { EventChannel, within } from '@agentproto/arm-kit'
import { systemClock } from '@agentproto/contracts'
import { expect, test } from 'vitest'

async function collect(channel: EventChannel<number>): Promise<number[]> {
  const read: number[] = []
  for await (const item of channel) read.push(item)
  return read
}

test('what is written is read, in order, before and after the reader comes', async () => {
  const channel = new EventChannel<number>()
  void channel.push([1, 2])
  const reading = collect(channel)
  await new Promise(setImmediate)
  void channel.push([3])
  channel.end()
  void channel.push([4])
  expect(await reading).toEqual([1, 2, 3])
})

test('a failure comes after what was written before it', async () => {
  const channel = new EventChannel<number>()
  void channel.push([1])
  channel.end(new Error('broken'))
  const read: number[] = []
  const reading = (async () => {
    for await (const item of channel) read.push(item)
  })()
  await expect(reading).rejects.toThrow('broken')
  expect(read).toEqual([1])
})

test('F35 a slow reader holds its writer up, until it has read all', async () => {
  const channel = new EventChannel<number>()
  const pressure = channel.push(Array.from({ length: 1_000 }, (_, i) => i))
  expect(pressure).toBeInstanceOf(Promise)
  const reading = collect(channel)
  await pressure
  expect(channel.push([1])).toBeUndefined()
  channel.end()
  expect(await reading).toHaveLength(1_001)
})

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
