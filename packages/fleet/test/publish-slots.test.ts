import { expect, test } from 'vitest'
import { PublishSlots } from '../src/log/publish-slots.js'

test('17.4 publishers share a bounded number of messages and bytes, first come, first served', async () => {
  const slots = new PublishSlots({ messages: 3, bytes: 100 })
  const [started, finish] = [[] as string[], new Map<string, () => void>()]
  const run = (name: string, bytes: number): Promise<void> =>
    slots.run(bytes, () => {
      started.push(name)
      return new Promise((resolve) => finish.set(name, resolve))
    })
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const all = [run('a', 60), run('b', 30), run('large', 500), run('c', 1), run('d', 1), run('e', 1), run('f', 1)]
  await settle()
  expect(started).toEqual(['a', 'b'])
  finish.get('a')?.()
  finish.get('b')?.()
  await settle()
  expect(started).toEqual(['a', 'b', 'large'])
  finish.get('large')?.()
  await settle()
  expect(started).toEqual(['a', 'b', 'large', 'c', 'd', 'e'])
  for (const name of ['c', 'd', 'e']) finish.get(name)?.()
  await settle()
  finish.get('f')?.()
  await Promise.all(all)
})

test('17.4 work that fails gives its slot back', async () => {
  const slots = new PublishSlots({ messages: 1, bytes: 1 })
  await expect(slots.run(1, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await slots.run(1, () => Promise.resolve('yes'))).toBe('yes')
})
