import type { Session } from '@agentproto/client'

type Costs = NonNullable<NonNullable<Session['usage']>['cost']>

/** Amounts of money, one for each currency: they are never added. */
export const costText = (costs: Costs): string =>
  costs.map(({ amount, currency }) => money(amount, currency)).join(' + ')

function money(amount: number, currency: string): string {
  try {
    const digits = amount !== 0 && Math.abs(amount) < 0.01 ? 6 : 2
    return new Intl.NumberFormat('en', { style: 'currency', currency, maximumFractionDigits: digits }).format(amount)
  } catch {
    // What an agent calls a currency need not be one.
    return `${amount} ${currency}`
  }
}

/** How long ago something was, in its greatest unit. */
export function ageText(then: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(then)) / 1_000)
  const [size, unit] = UNITS.find(([each]) => seconds >= each) ?? [1, 's']
  return Number.isNaN(seconds) ? '' : `${Math.floor(seconds / size)} ${unit}`
}

const UNITS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const
