import { expect, test } from 'vitest'
import { EventQueue } from '@agentproto/contracts/agent'

const many = (n: number): number[] => Array.from({ length: n }, (_, i) => i)

test('a reader that is behind holds the writer up, until it has caught up', async () => {
  const queue = new EventQueue<number>()
  expect(queue.push(many(10))).toBeUndefined()
  let released = false
  const pressure = queue.push(many(2_000))
  void pressure?.then(() => (released = true))
  for (let i = 0; i < 2_009; i++) await queue.next()
  expect(released).toBe(false)
  await queue.next()
  await pressure
})

test('what waits is read after the end; then the failure, once', async () => {
  const queue = new EventQueue<number>()
  void queue.push([1])
  queue.end(new Error('broken'))
  void queue.push([2])
  expect(await queue.next()).toEqual({ done: false, value: 1 })
  await expect(queue.next()).rejects.toThrow('broken')
  expect(await queue.next()).toEqual({ done: true, value: undefined })
})

test('a reader that leaves early says so, and releases the writer', async () => {
  let left = 0
  const queue = new EventQueue<number>(() => void left++)
  const pressure = queue.push(many(2_000))
  await queue.return()
  await queue.return()
  await pressure
  expect(left).toBe(1)
  expect(await queue.next()).toEqual({ done: true, value: undefined })
})

async function collect(queue: EventQueue<number>): Promise<number[]> {
  const read: number[] = []
  for await (const item of queue) read.push(item)
  return read
}

test('what is written is read, in order, before and after the reader comes', async () => {
  const queue = new EventQueue<number>()
  void queue.push([1, 2])
  const reading = collect(queue)
  await new Promise(setImmediate)
  void queue.push([3])
  queue.end()
  void queue.push([4])
  expect(await reading).toEqual([1, 2, 3])
})

test('F35 a slow reader holds its writer up, until it has read all', async () => {
  const queue = new EventQueue<number>()
  const pressure = queue.push(Array.from({ length: 1_000 }, (_, i) => i))
  expect(pressure).toBeInstanceOf(Promise)
  const reading = collect(queue)
  await pressure
  expect(queue.push([1])).toBeUndefined()
  queue.end()
  expect(await reading).toHaveLength(1_001)
})
