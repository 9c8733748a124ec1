import { expect, test } from 'vitest'
import { addLimitOptions, limitsOf } from '../src/budget-options.js'
import { CliCommand } from '../src/cli-command.js'
import { createPaint } from '../src/render/paint.js'
import { renderSessions } from '../src/render/sessions-table.js'
import { budgetText, costText, usageText } from '../src/render/usage-text.js'
import { session } from './samples.js'

const used = { turns: 2, unreported: 1, withoutTokens: 1, withoutCost: 1, busyMs: 90_000 }

test('13.7 what was not reported is a dash or is named, never zero', () => {
  expect(costText(undefined)).toBe('–')
  expect(costText([{ amount: 0, currency: 'USD' }])).toBe('$0.00')
  expect(
    costText([
      { amount: 0.0042, currency: 'USD' },
      { amount: 3, currency: 'EUR' },
    ]),
  ).toBe('$0.0042 + 3.00 EUR')
  expect(usageText({ ...used, tokens: { totalTokens: 12_000 } })).toMatch(
    /^2 turns, 12,000 tokens, .* of work, 1 reported nothing$/,
  )
  expect(budgetText({ turns: 5, cost: { amount: 5, currency: 'USD' } })).toBe('$5.00, 5 turns')
})

test('13.7 the list has a column for the cost once an agent has reported one', () => {
  const table = (sessions: Parameters<typeof session>[0][]): string =>
    renderSessions({ sessions: sessions.map(session), width: 200, paint: createPaint(false), now: 0 }).join('\n')
  expect(table([{}])).not.toContain('COST')
  const text = table([{ usage: { ...used, cost: [{ amount: 1.5, currency: 'USD' }] } }, {}])
  expect(text).toContain('COST')
  expect(text).toContain('$1.50')
})

const parsed = (...words: string[]): ReturnType<typeof limitsOf> => {
  const command = addLimitOptions(new CliCommand('start', () => () => Promise.resolve()))
  command.exitOverride().configureOutput({ writeErr: () => undefined })
  return limitsOf(command.parse(words, { from: 'user' }).opts())
}

test('13.7 options of a start become its budget and its loop limits', () => {
  expect(parsed()).toEqual({})
  expect(parsed('--budget-cost', '5')).toEqual({ budget: { cost: { amount: 5, currency: 'USD' } } })
  expect(parsed('--budget-cost', '0.5eur', '--budget-turns', '2', '--loop-stop', '10')).toEqual({
    budget: { cost: { amount: 0.5, currency: 'EUR' }, turns: 2 },
    loops: { stopAfter: 10 },
  })
  for (const words of [
    ['--budget-cost', 'much'],
    ['--budget-cost', '0'],
    ['--budget-turns', '0'],
    ['--budget-minutes', '-1'],
  ])
    expect(() => parsed(...words)).toThrow()
})
