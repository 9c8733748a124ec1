import { AgentprotoError, type Budget } from '@agentproto/contracts'
import type { SessionState } from '../session/state.js'
import { busySince } from './meter.js'
import type { Standing } from './standing.js'

/** How much of each budget that holds for a session is used. */

export const OWN = 'session'

export const MINUTE = 60_000

/** One limit of a budget, and how much of it is used. */
export interface Share {
  readonly key: string
  readonly whose: string
  readonly kind: keyof Budget
  /** 1 when it is used up. */
  readonly share: number
  /** For people: what was used, of what. */
  readonly text: string
}

/** The standing of a session's own budget; `key` and text of the others come from the ledger. */
export const OWN_TEXT = 'of this session'

export const sharesOf = ({ standings, meter }: Pick<SessionState, 'standings' | 'meter'>, now: number): Share[] =>
  standings.flatMap((standing) => sharesOfOne(standing, busySince(meter, now)))

function sharesOfOne({ key, whose, limit, spent, ...claims }: Standing, busyNowMs: number): Share[] {
  const { cost, tokens, turns, minutes } = limit
  const shares: Share[] = []
  const add = (kind: keyof Budget, used: number, { most, unit }: { readonly most: number; readonly unit: string }) =>
    shares.push({
      key,
      whose,
      kind,
      share: used / most,
      text: `${rounded(used)} of ${most} ${unit}${kind === 'cost' ? claimText(claims, unit) : ''}`,
    })
  if (cost !== undefined) add('cost', spent.cost.get(cost.currency) ?? 0, { most: cost.amount, unit: cost.currency })
  if (tokens !== undefined) add('tokens', spent.tokens, { most: tokens, unit: 'tokens' })
  if (turns !== undefined) add('turns', spent.turns, { most: turns, unit: 'turns' })
  if (minutes !== undefined) add('minutes', (spent.busyMs + busyNowMs) / MINUTE, { most: minutes, unit: 'minutes' })
  return shares
}

/** For people: who reported it. */
function claimText({ largest, disputed }: Pick<Standing, 'largest' | 'disputed'>, currency: string): string {
  if (disputed !== undefined)
    return `, of which this session reported more at once than the whole budget; ${rounded(disputed)} ${currency} do not count for others`
  return largest === undefined ? '' : `, ${rounded(largest.amount)} of them reported by the session ${largest.session}`
}

const rounded = (used: number): number => Math.round(used * 10_000) / 10_000

/** For people. */
export const textOf = ({ whose, share, text }: Share): string =>
  `${whose} is ${share >= 1 ? 'used up' : 'nearly used up'}: ${text}`

/** What a caller gets whose prompt or start is not within a budget. */
export const budgetError = (share: Share): AgentprotoError =>
  new AgentprotoError('budget_exceeded', `The budget ${textOf(share)}`, {
    hint:
      share.whose === OWN_TEXT
        ? 'Resume the session with a larger budget, such as `agentproto sessions resume <id> --budget-turns 20`'
        : 'Wait for the next day if it is one of a day, or raise it in the configuration (sessions.budgets)',
    data: { budget: share.key, limit: share.kind },
  })
