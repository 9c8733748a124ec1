import { expect, test } from 'vitest'
import { inOrder } from '../src/in-order.js'

test('a step that fails stops none after it, and the first failure is told', async () => {
  const taken: number[] = []
  const step = (number: number, fails: boolean) => async (): Promise<void> => {
    await Promise.resolve()
    taken.push(number)
    if (fails) throw new Error(`step ${number}`)
  }
  await expect(inOrder([step(1, false), step(2, true), step(3, true), step(4, false)])).rejects.toThrow('step 2')
  expect(taken).toEqual([1, 2, 3, 4])
  await inOrder([step(5, false)])
})
