import { type Budget, defined } from '@agentproto/contracts'
import type { ResumeCall } from '../lifecycle/resume.js'
import type { SessionState } from '../session/state.js'
import { budgetError, OWN, sharesOf } from './budget-share.js'

/** A session that its budget ended goes on only when a person gives it a larger one. */

/** The limits of a resume, over those that the session has. */
export function withBudget(state: SessionState, budget: ResumeCall['budget']): SessionState {
  if (budget === undefined) return state
  const { spawn, standings, meter, config } = state
  const limit: Budget = { ...config.budgets?.session, ...spawn.budget, ...defined(budget) }
  // Near the new limits it is warned again.
  const warned = (meter.warned ?? []).filter((about) => !about.startsWith(`${OWN} `))
  return {
    ...state,
    spawn: { ...spawn, budget: limit },
    meter: { ...meter, warned },
    standings: standings.map((each) => (each.key === OWN ? { ...each, limit } : each)),
  }
}

/** @throws `budget_exceeded` when one of the budgets that hold for the session is used up */
export function assertBudget(state: SessionState, now: number): void {
  const over = sharesOf(state, now).find(({ share }) => share >= 1)
  if (over !== undefined) throw budgetError(over)
}
