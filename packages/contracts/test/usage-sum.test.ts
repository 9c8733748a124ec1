import { addCost, addUsage, NO_USAGE, TOKEN_KINDS, type Usage } from '@agentproto/contracts'
import { expect, test } from 'vitest'

const usage = (parts: Partial<Usage> = {}): Usage => ({ ...NO_USAGE, ...parts })

interface Case {
  readonly what: string
  readonly a: Usage
  readonly b: Usage
  readonly sum: Usage
}

const SUMS: readonly Case[] = [
  { what: 'nothing and nothing', a: usage(), b: usage(), sum: usage() },
  {
    what: 'counts',
    a: { turns: 1, unreported: 2, withoutTokens: 3, withoutCost: 4, busyMs: 5 },
    b: { turns: 10, unreported: 20, withoutTokens: 30, withoutCost: 40, busyMs: 50 },
    sum: { turns: 11, unreported: 22, withoutTokens: 33, withoutCost: 44, busyMs: 55 },
  },
  {
    what: 'tokens of one of them',
    a: usage(),
    b: usage({ tokens: { inputTokens: 1 } }),
    sum: usage({ tokens: { inputTokens: 1 } }),
  },
  {
    what: 'tokens of kinds that only one of them has',
    a: usage({ tokens: { inputTokens: 1, totalTokens: 1 } }),
    b: usage({ tokens: { thoughtTokens: 2, totalTokens: 2 } }),
    sum: usage({ tokens: { inputTokens: 1, totalTokens: 3, thoughtTokens: 2 } }),
  },
  {
    what: 'tokens of every kind',
    a: usage({ tokens: Object.fromEntries(TOKEN_KINDS.map((kind) => [kind, 1])) }),
    b: usage({ tokens: Object.fromEntries(TOKEN_KINDS.map((kind) => [kind, 2])) }),
    sum: usage({ tokens: Object.fromEntries(TOKEN_KINDS.map((kind) => [kind, 3])) }),
  },
  {
    what: 'costs of one of them',
    a: usage({ cost: [{ amount: 1, currency: 'USD' }] }),
    b: usage(),
    sum: usage({ cost: [{ amount: 1, currency: 'USD' }] }),
  },
  {
    what: 'a cost that is nothing, which was reported',
    a: usage({ cost: [] }),
    b: usage(),
    sum: usage({ cost: [] }),
  },
  {
    what: 'costs in two currencies, which are never added',
    a: usage({ cost: [{ amount: 1, currency: 'USD' }] }),
    b: usage({
      cost: [
        { amount: 2, currency: 'EUR' },
        { amount: 3, currency: 'USD' },
      ],
    }),
    sum: usage({
      cost: [
        { amount: 4, currency: 'USD' },
        { amount: 2, currency: 'EUR' },
      ],
    }),
  },
]

test.for(SUMS)('17.2 the sum of usage: $what', ({ a, b, sum }) => {
  expect(addUsage(a, b)).toStrictEqual(sum)
})

test('17.2 a sum of costs shows no error of decimal fractions', () => {
  const cost = (amount: number) => [{ amount, currency: 'USD' }]
  expect(addCost(cost(0.1), cost(0.2))).toEqual(cost(0.3))
  expect(addCost(addCost(cost(0.000_001), cost(0.000_002)), undefined)).toEqual(cost(0.000_003))
})
