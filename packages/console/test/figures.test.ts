import { expect, test } from 'vitest'
import { ageText, costText } from '../web/sessions/figures.js'

test('15.3 an age is in its greatest unit', () => {
  const now = Date.parse('2026-01-10T00:00:00Z')
  const ages = [
    '2026-01-09T23:59:59Z',
    '2026-01-09T23:58:30Z',
    '2026-01-09T21:00:00Z',
    '2026-01-08T00:00:00Z',
    '2026-01-11T00:00:00Z',
    'x',
  ]
  expect(ages.map((then) => ageText(then, now))).toEqual(['1 s', '1 min', '3 h', '2 d', '0 s', ''])
})

test('15.6 amounts of two currencies are never added', () => {
  const text = costText([
    { amount: 1.5, currency: 'USD' },
    { amount: 0.0001, currency: 'EUR' },
    { amount: 2, currency: 'not one' },
  ])
  expect(text).toBe('$1.50 + €0.0001 + 2 not one')
})
