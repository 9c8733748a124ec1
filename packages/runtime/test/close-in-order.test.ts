import { expect, test } from 'vitest'
import { closeInOrder } from '../src/close-in-order.js'

test('a step that fails does not stop the next ones, and the first error is thrown', async () => {
  const taken: number[] = []
  const step = (number: number, fails: boolean) => async (): Promise<void> => {
    await Promise.resolve()
    taken.push(number)
    if (fails) throw new Error(`step ${number}`)
  }
  await expect(closeInOrder([step(1, false), step(2, true), step(3, true), step(4, false)])).rejects.toThrow('step 2')
  expect(taken).toEqual([1, 2, 3, 4])
  await closeInOrder([step(5, false)])
})
