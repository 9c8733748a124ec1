import { expect, test } from 'vitest'
import { barsOf, PLOT } from '../web/usage/bars.js'
import { tokensOf, valueOf } from '../web/usage/usage-figures.js'

const row = { turns: 3, unreported: 0, withoutTokens: 0, withoutCost: 0, busyMs: 90_000 }

test('15.6 the greatest value has the highest bar, and bars fit the plot', () => {
  const bars = barsOf([1, 4, 0].map((value) => ({ label: String(value), value })))
  expect(bars.map(({ height }) => height)).toEqual([PLOT.height / 4, PLOT.height, 0])
  expect(bars.every(({ x, y, width, height }) => x + width <= PLOT.width && y + height === PLOT.height)).toBe(true)
})

test('15.6 a plot of nothing has no bar with a height', () => {
  expect(barsOf([])).toEqual([])
  expect(barsOf([{ label: 'a', value: 0 }])[0]?.height).toBe(0)
})

test('15.6 a plot of a cost shows one currency, and of tokens their total or what is known of it', () => {
  const cost = [
    { amount: 1, currency: 'USD' },
    { amount: 2, currency: 'EUR' },
  ]
  expect(valueOf({ ...row, cost }, { currency: 'EUR' })).toBe(2)
  expect(valueOf(row, { currency: 'EUR' })).toBe(0)
  expect(valueOf(row, 'minutes')).toBe(1.5)
  expect(tokensOf({ ...row, tokens: { inputTokens: 2, outputTokens: 3 } })).toBe(5)
  expect(tokensOf({ ...row, tokens: { totalTokens: 9, inputTokens: 2 } })).toBe(9)
})
