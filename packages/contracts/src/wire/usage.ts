import * as z from 'zod'
import type { Cost, Usage } from '../usage.js'
import { unanswered } from './session-responses.js'
import { of, type ValueOf } from './value-of.js'

// Budgets and loop limits that a caller sets, and the usage that the gateway reports.

/** Bounds of usage and budgets. */
export const USAGE_BOUNDS = {
  /** Of a budget, in the currency. */
  costMin: 0.000001,
  costMax: 1_000_000_000,
  tokensMax: 1_000_000_000_000_000,
  turnsMax: 1_000_000,
  minutesMin: 0.001,
  minutesMax: 1_000_000,
  loopMax: 1_000,
  /** Days that one report may span, which is also how long usage is kept. */
  days: 400,
  /** Rows of one report; further ones share a row without a key. */
  reportRows: 10_000,
} as const

const costLimit = z.strictObject({
  amount: z.number().min(USAGE_BOUNDS.costMin).max(USAGE_BOUNDS.costMax),
  currency: z.string().regex(/^[A-Z]{3}$/, 'a code of three capital letters, such as USD'),
})

export const budgetSchema = z
  .strictObject({
    cost: costLimit.optional(),
    tokens: z.int().min(1).max(USAGE_BOUNDS.tokensMax).optional(),
    turns: z.int().min(1).max(USAGE_BOUNDS.turnsMax).optional(),
    minutes: z.number().min(USAGE_BOUNDS.minutesMin).max(USAGE_BOUNDS.minutesMax).optional(),
  })
  .refine((budget) => Object.values(budget).some((limit) => limit !== undefined), 'a cost, tokens, turns or minutes')
  .meta({ minProperties: 1 })

/** 0 for never; once is no repetition. */
const repeats = z.union([z.literal(0), z.int().min(2).max(USAGE_BOUNDS.loopMax)])

export const loopsSchema = z.strictObject({ warnAfter: repeats.optional(), stopAfter: repeats.optional() })

/** What a report has one row for. */
export const USAGE_GROUPS = ['session', 'agent', 'workspace', 'day', 'model'] as const
export type UsageGroup = (typeof USAGE_GROUPS)[number]

const day = z.iso.date()

export const usageQuerySchema = z.strictObject({
  from: day.optional().describe('First day (UTC); default 29 days before `to`'),
  to: day.optional().describe('Last day (UTC); default today'),
  by: z.enum(USAGE_GROUPS).optional().describe('What there is one row for; default day'),
})
export type UsageQuery = Readonly<z.infer<typeof usageQuerySchema>>

const count = z.int().min(0)
const cost = z.array(z.object({ amount: z.number().min(0), currency: z.string() }))
const usage = z.object({
  turns: count,
  unreported: count.describe('Turns that reported neither tokens nor a cost'),
  withoutTokens: count,
  withoutCost: count,
  busyMs: count,
  tokens: of<NonNullable<Usage['tokens']>>(z.object({})).optional().describe('Absent if no turn reported any'),
  cost: of<readonly Cost[]>(cost).optional().describe('One amount per currency; absent if no turn reported any'),
})
const usageRow = usage.extend({
  key: z.string().optional().describe('Id, slug, day or model; absent for what has none, and for rows beyond 10,000'),
})
export const usageReport = z.object({
  from: day,
  to: day,
  by: z.enum(USAGE_GROUPS),
  rows: z.array(usageRow),
  total: usage,
  unanswered,
})
export type UsageReport = ValueOf<typeof usageReport>
export type UsageReportRow = UsageReport['rows'][number]
