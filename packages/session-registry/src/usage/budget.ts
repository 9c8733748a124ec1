import type { Cost } from '@agentproto/contracts'
import { end } from '../session/run.js'
import { andThen, type SessionState, step, type Step } from '../session/state.js'
import { MINUTE, type Share, sharesOf, textOf } from './budget-share.js'

/**
 * Keeps a session within its budgets: its own, those of its ancestors, of its workspace and of the day. At 80 % it is warned
 * once. A cost, tokens or minutes that are used up end it in mid-turn; turns end it when one more is asked for.
 */

const WARN_AT = 0.8
/** Warnings that are remembered, so that each is given once. */
const MAX_WARNED = 20

/** What was used has changed, or time has passed: the session is warned, or ends. */
export function checkBudgets(state: SessionState, now: number): Step {
  if (state.standings.length === 0 || state.run.phase !== 'running') return step(state)
  const used = sharesOf(state, now)
  const over = used.find(({ kind, share }) => share >= 1 && kind !== 'turns')
  if (over !== undefined) return endByBudget(state, over)
  const near = used.filter(({ share }) => share >= WARN_AT)
  return near.reduce((done, each) => andThen(done, warnOf(each)), warnUnmeasured(state))
}

/** A budget that allows no further turn. */
export const usedUp = (state: SessionState, now: number): Share | undefined =>
  sharesOf(state, now).find(({ share }) => share >= 1)

/** The end of a session whose budget is used up; its log says which. */
export const endByBudget = (state: SessionState, share: Share): Step =>
  andThen(warn(state, `The budget ${textOf(share)}: the session ends`), (after) =>
    end(after, { status: 'killed', stopReason: 'budget_exceeded' }),
  )

/** When the minutes of a budget are next to be looked at, if the agent works on, in milliseconds since the epoch. */
export function budgetDue({ standings, meter }: SessionState, now: number): number {
  const since = meter.turn?.busySince
  if (since === undefined) return Infinity
  const due = standings.flatMap(({ limit: { minutes = Infinity }, spent }) =>
    [WARN_AT, 1].map((share) => since + minutes * MINUTE * share - spent.busyMs),
  )
  // What is past was looked at.
  return Math.min(Infinity, ...due.filter((at) => at > now))
}

/** Warns once of a reported cost that does not count. */
export const refuseCost = (state: SessionState, why: string): Step =>
  warnOnce(state, `cost: ${why}`, `The agent reported a cost with ${why}: it does not count`)

/** Warns once that an agent does not report what a budget limits: such a budget cannot be kept. */
function warnUnmeasured(state: SessionState): Step {
  const { cost = [], turns, withoutTokens } = state.meter.usage
  if (turns === 0) return step(state)
  const missing = state.standings.flatMap(({ limit }) => [
    ...(limit.cost !== undefined && !cost.some(({ currency }) => currency === limit.cost?.currency)
      ? [`no cost in ${limit.cost.currency}`]
      : []),
    ...(limit.cost === undefined ? [] : otherCosts(cost, limit.cost.currency)),
    ...(limit.tokens !== undefined && withoutTokens === turns ? ['no tokens'] : []),
  ])
  return [...new Set(missing)].reduce(
    (done, what) => andThen(done, (after) => warnOnce(after, what, unmeasuredText(what))),
    step(state),
  )
}

const unmeasuredText = (what: string): string => `The agent reports ${what}, so the budget of it cannot be kept`

/** Costs beside a budget in another currency. */
const otherCosts = (cost: readonly Cost[], currency: string): readonly string[] =>
  cost.some((each) => each.currency === currency)
    ? cost.filter((each) => each.currency !== currency).map((each) => `costs in ${each.currency} beside ${currency}`)
    : []

const warnOf =
  (share: Share) =>
  (state: SessionState): Step =>
    warnOnce(state, `${share.key} ${share.kind}`, `The budget ${textOf(share)}`)

function warnOnce(state: SessionState, about: string, message: string): Step {
  const { warned = [] } = state.meter
  if (warned.includes(about)) return step(state)
  const meter = { ...state.meter, warned: [...warned, about].slice(-MAX_WARNED) }
  return warn({ ...state, meter }, message)
}

/** In the turn that runs, if one does. */
function warn(state: SessionState, message: string): Step {
  const turn = state.turn.phase === 'open' ? state.turn.number : undefined
  return step(state, { do: 'append', groups: [{ entries: [{ type: 'runtime-warning', message }], turn }], hold: true })
}
