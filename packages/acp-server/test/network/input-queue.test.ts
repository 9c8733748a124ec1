import { expect, test } from 'vitest'
import { InputQueue } from '../../src/network/input-queue.js'

test('a queue that is never empty keeps nothing of what was taken', async () => {
  const queue = new InputQueue(1_000_000)
  const text = (): string => Buffer.alloc(20_000, 'x').toString('latin1')
  queue.push(text())
  const before = process.memoryUsage().heapUsed
  let most = 0
  for (let taken = 0; taken < 10_000; taken++) {
    expect(queue.push(text())).toBe(true)
    await queue.next()
    if (taken % 100 === 0) most = Math.max(most, process.memoryUsage().heapUsed - before)
  }
  expect(most / 1_000_000).toBeLessThan(100)
})

test('texts come in their order, also those that came meanwhile', async () => {
  const queue = new InputQueue(10_000_000)
  const taken: (string | undefined)[] = []
  for (let at = 0; at < 5_000; at++) {
    queue.push(`${2 * at}`)
    queue.push(`${2 * at + 1}`)
    taken.push(await queue.next())
  }
  for (let at = 0; at < 5_000; at++) taken.push(await queue.next())
  expect(taken).toEqual(Array.from({ length: 10_000 }, (_, at) => `${at}`))
})
