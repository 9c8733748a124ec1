import type { Client } from '@agentproto/client'

export type Report = Awaited<ReturnType<Client['usage']>>
export type ReportRow = Report['rows'][number]
type Used = Report['total']

/** What a plot shows. A cost is in one currency, for amounts of two are never added. */
export type Measure = 'turns' | 'tokens' | 'minutes' | { readonly currency: string }

export const tokensOf = ({ tokens }: Used): number =>
  tokens?.totalTokens ?? (tokens?.inputTokens ?? 0) + (tokens?.outputTokens ?? 0)

export function valueOf(row: Used, measure: Measure): number {
  if (measure === 'turns') return row.turns
  if (measure === 'tokens') return tokensOf(row)
  if (measure === 'minutes') return row.busyMs / 60_000
  return (row.cost ?? []).find(({ currency }) => currency === measure.currency)?.amount ?? 0
}

/** The currencies of a report. */
export const currenciesOf = ({ total }: Report): readonly string[] => (total.cost ?? []).map(({ currency }) => currency)
