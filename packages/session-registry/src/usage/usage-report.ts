import { addUsage, AgentprotoError, NO_USAGE, type Session, type Usage } from '@agentproto/contracts'
import {
  isWithinBounds,
  type SessionBounds,
  USAGE_BOUNDS,
  type UsageGroup,
  type UsageQuery,
  type UsageReport,
  type UsageReportRow,
  type UsageService,
} from '@agentproto/contracts/wire'
import type { UsageLedger } from './usage-ledger.js'
import { DAY_MS, dayOf, type UsageRow } from './usage-row.js'

export interface UsageReportHost {
  readonly ledger: Pick<UsageLedger, 'rows'>
  readonly clock: { now(): number }
  /** A session that is still stored. */
  readonly find: (id: string) => Session | undefined
}

/** Days of a report that names none. */
const DEFAULT_DAYS = 30

/** See {@link UsageService}. */
export const usageService = (host: UsageReportHost): UsageService => ({
  async report({ by = 'day', ...query } = {}, within) {
    const span = spanOf(query, host.clock.now())
    const sums = new Sums(by)
    for await (const rows of host.ledger.rows(span.from, span.to))
      for (const row of rows) if (within === undefined || isVisible(row, within, host)) sums.add(row)
    return { ...span, by, rows: sums.rows(), total: sums.total }
  },
})

function spanOf({ from, to }: Pick<UsageQuery, 'from' | 'to'>, now: number): Pick<UsageReport, 'from' | 'to'> {
  const last = to ?? dayOf(now)
  const first = from ?? dayOf(Date.parse(last) - (DEFAULT_DAYS - 1) * DAY_MS)
  const days = (Date.parse(last) - Date.parse(first)) / DAY_MS + 1
  if (days >= 1 && days <= USAGE_BOUNDS.days) return { from: first, to: last }
  throw new AgentprotoError('invalid_request', 'The days of the report are not valid', {
    expected: `a first day that is not after the last one, at most ${USAGE_BOUNDS.days} days in all`,
    given: `${first} to ${last}`,
  })
}

/** Of a session that was deleted the workspace and the folder are known, but no longer what started it. */
function isVisible(row: UsageRow, within: SessionBounds, { find }: UsageReportHost): boolean {
  const { session: id = '', workspace: workspaceSlug, cwd = '' } = row
  return isWithinBounds(find(id) ?? { id, workspaceSlug, cwd }, within, find)
}

/** One sum for each key; keys beyond the bound share the one that has none. */
class Sums {
  readonly #by: UsageGroup
  readonly #sums = new Map<string | undefined, Usage>()
  total: Usage = NO_USAGE

  constructor(by: UsageGroup) {
    this.#by = by
  }

  add(row: UsageRow): void {
    const own = keyOf(row, this.#by)
    const key = this.#sums.has(own) || this.#sums.size < USAGE_BOUNDS.reportRows ? own : undefined
    this.#sums.set(key, addUsage(this.#sums.get(key) ?? NO_USAGE, row))
    this.total = addUsage(this.total, row)
  }

  rows(): UsageReportRow[] {
    const all = Array.from(this.#sums, ([key, usage]) => ({ ...(key !== undefined && { key }), ...usage }))
    return all.sort((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1))
  }
}

function keyOf({ day, session, agent, workspace, model }: UsageRow, by: UsageGroup): string | undefined {
  switch (by) {
    case 'day':
      return day
    case 'session':
      return session
    case 'agent':
      return agent
    case 'workspace':
      return workspace
    case 'model':
      return model
  }
}
