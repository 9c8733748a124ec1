import type { StreamEvent } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { EventQueue } from '../src/session/event-queue.ts'

const text = (n: number): StreamEvent => ({ type: 'text-delta', text: String(n) })
const many = (n: number): StreamEvent[] => Array.from({ length: n }, (_, i) => text(i))

test('a reader that is behind holds the writer up, until it has caught up', async () => {
  const queue = new EventQueue(() => {})
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
  const queue = new EventQueue(() => {})
  void queue.push([text(1)])
  queue.end(new Error('broken'))
  void queue.push([text(2)])
  expect(await queue.next()).toEqual({ done: false, value: text(1) })
  await expect(queue.next()).rejects.toThrow('broken')
  expect(await queue.next()).toEqual({ done: true, value: undefined })
})

test('a reader that leaves early says so, and releases the writer', async () => {
  let left = 0
  const queue = new EventQueue(() => void left++)
  const pressure = queue.push(many(2_000))
  await queue.return()
  await queue.return()
  await pressure
  expect(left).toBe(1)
  expect(await queue.next()).toEqual({ done: true, value: undefined })
})
