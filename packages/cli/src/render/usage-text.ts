import type { Budget, Cost, Usage } from '@agentproto/contracts'
import { duration } from './age.js'

/** What a session used, in a few characters. What its agent did not report is a dash, never zero. */

export const NOT_REPORTED = '–'

export const costText = (cost: readonly Cost[] | undefined): string =>
  cost === undefined || cost.length === 0 ? NOT_REPORTED : cost.map(amountText).join(' + ')

export const tokensText = (count: number | undefined): string =>
  count === undefined ? NOT_REPORTED : count.toLocaleString('en-US')

/** For the page of a session. */
export function usageText({ turns, unreported, busyMs, tokens, cost }: Usage): string {
  const parts = [
    `${turns} turn${turns === 1 ? '' : 's'}`,
    ...(tokens === undefined ? [] : [`${tokensText(tokens.totalTokens)} tokens`]),
    ...(cost === undefined ? [] : [costText(cost)]),
    `${duration(busyMs)} of work`,
    ...(unreported === 0 ? [] : [`${unreported} reported nothing`]),
  ]
  return parts.join(', ')
}

export function budgetText({ cost, tokens, turns, minutes }: Budget): string {
  const parts = [
    cost && amountText(cost),
    tokens && `${tokensText(tokens)} tokens`,
    turns && `${turns} turns`,
    minutes && `${minutes} minutes`,
  ]
  return parts.filter(Boolean).join(', ')
}

/** Small amounts keep the digits that say something. */
function amountText({ amount, currency }: Cost): string {
  const text = amount === 0 || amount >= 0.1 ? amount.toFixed(2) : amount.toPrecision(2)
  return currency === 'USD' ? `$${text}` : `${text} ${currency}`
}
