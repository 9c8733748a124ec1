import type { Budget } from '@agentproto/contracts'

/** The limits of a budget, such as "5 turns, 2.5 USD". */
export function budgetText({ cost, tokens, turns, minutes }: Budget): string {
  return [
    ...(cost === undefined ? [] : [`${cost.amount} ${cost.currency}`]),
    ...(tokens === undefined ? [] : [`${tokens.toLocaleString('en')} tokens`]),
    ...(turns === undefined ? [] : [`${turns} turns`]),
    ...(minutes === undefined ? [] : [`${minutes} minutes of work`]),
  ].join(', ')
}
