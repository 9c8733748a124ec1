import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ReplayWindow } from '../src/calls/replay-window.ts'

test('17.7 a number is accepted once, whatever the order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 3_000 }), { maxLength: 500 }), (numbers) => {
      const window = new ReplayWindow()
      const accepted = numbers.filter((number) => window.accept(number))
      expect(new Set(accepted).size).toBe(accepted.length)
      for (const number of numbers) expect(window.accept(number)).toBe(false)
    }),
  )
})

test('17.7 messages in their order are all accepted, and those that overtake each other a little', () => {
  const window = new ReplayWindow()
  for (let number = 1; number < 5_000; number += 2) {
    expect(window.accept(number + 1)).toBe(true)
    expect(window.accept(number)).toBe(true)
  }
  expect(window.accept(4_400)).toBe(false)
  expect(window.accept(1)).toBe(false)
})
