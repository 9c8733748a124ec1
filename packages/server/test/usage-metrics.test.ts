import { expect, test } from 'vitest'
import { Metrics } from '../src/telemetry/metrics.js'

const nothing = { turns: 1, unreported: 0, withoutTokens: 0, withoutCost: 0, busyMs: 0 }

test('13.5 metrics count the tokens and the cost that agents reported, with labels of closed lists', async () => {
  const metrics = new Metrics('1.0.0')
  metrics.usage({ ...nothing, tokens: { inputTokens: 90, outputTokens: 10, totalTokens: 100 } })
  metrics.usage({
    ...nothing,
    tokens: { inputTokens: 10, cachedReadTokens: 5 },
    cost: [{ amount: 0.5, currency: 'USD' }],
  })
  metrics.usage({ ...nothing, cost: [{ amount: 2, currency: 'XYZ' }] })
  metrics.usage({ ...nothing, unreported: 1 })
  const text = await metrics.text(
    { list: async () => ({ sessions: [] }) },
    { open: 0, refused: 0, behind: 0 },
    { on: [], targets: [] },
  )
  for (const line of [
    'agentproto_tokens_total{kind="input"} 100',
    'agentproto_tokens_total{kind="output"} 10',
    'agentproto_tokens_total{kind="cached-read"} 5',
    'agentproto_cost_total{currency="USD"} 0.5',
    'agentproto_cost_total{currency="other"} 2',
    'agentproto_turns_unreported_total 1',
  ])
    expect(text).toContain(line)
})

test('16.6 metrics count the agents of an earlier gateway that went on, and why others did not', async () => {
  const metrics = new Metrics('1.0.0')
  metrics.adoption()
  metrics.adoption()
  metrics.adoption('not_adoptable')
  const text = await metrics.text(
    { list: async () => ({ sessions: [] }) },
    { open: 0, refused: 0, behind: 0 },
    { on: [], targets: [] },
  )
  expect(text).toContain('agentproto_agents_adopted_total 2')
  expect(text).toContain('agentproto_agents_not_adopted_total{reason="not_adoptable"} 1')
})
