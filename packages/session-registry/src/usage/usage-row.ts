import {
  addCost,
  addUsage,
  asList,
  asNumber,
  asRecord,
  asString,
  type Cost,
  defined,
  type Json,
  parseJson,
  type Usage,
} from '@agentproto/contracts'
import { reportedTokens } from './reported-tokens.js'

/** What one session used with one model on one day: one turn, or several that were added up. */
export interface UsageRow extends Usage {
  /** The day of the turn's end in UTC, `YYYY-MM-DD`. */
  readonly day: string
  /** Absent for what the sessions beyond the bound of a day used together. */
  readonly session?: string
  readonly agent: string
  readonly workspace: string
  /** The session's folder: a slug may be that of another folder by now. Absent where several sessions share a row. */
  readonly cwd?: string
  /** Absent if the agent reported none. */
  readonly model?: string
  /** The last event of the session that it counts. */
  readonly seq: number
  /** Of `cost`, what was reported at once and is not believed: it does not count for budgets that sessions share. */
  readonly disputed?: readonly Cost[]
}

/** Keeps what was used, by day, longer than the sessions. */
export interface UsageStore {
  /**
   * Reads the newest days: up to which event each session was counted in them. Undefined for a store that keeps nothing over
   * a restart, so that nothing can be missing.
   * @param today `YYYY-MM-DD`
   */
  open(today: string): Promise<CountedSessions | undefined>
  /** Adds rows of one day; resolves when all are stored. If it throws, none is. @throws `storage_failed` */
  add(rows: readonly UsageRow[]): Promise<void>
  /** The rows of some days, both included, one day at a time. @throws `storage_failed` */
  rows(from: string, to: string): AsyncIterable<readonly UsageRow[]>
  /** Writes what is still pending. */
  close(): Promise<void>
}

export interface CountedSessions {
  /** What happened before this day was counted; absent if no day is stored. */
  readonly since?: string
  /** The last counted event of each session, of events since then. */
  readonly seqs: ReadonlyMap<string, number>
}

export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

export const DAY_MS = 24 * 60 * 60_000

/** Adds up the rows of a day by session and model; those of further sessions than `max` by agent and model alone. */
export function compacted(rows: readonly UsageRow[], max: number): readonly UsageRow[] {
  const sums = new Map<string, UsageRow>()
  for (const row of rows) addTo(sums, row)
  if (sums.size <= max) return [...sums.values()]
  const kept = [...sums.values()]
  const merged = new Map<string, UsageRow>()
  for (const { session: _s, cwd: _c, ...row } of kept.splice(0, kept.length - max)) addTo(merged, row)
  return [...merged.values(), ...kept]
}

function addTo(sums: Map<string, UsageRow>, row: UsageRow): void {
  const { day, session = '', agent, workspace, model = '' } = row
  const key = JSON.stringify([day, session, agent, workspace, model])
  const known = sums.get(key)
  sums.set(key, known === undefined ? row : addRows(known, row))
}

function addRows(known: UsageRow, row: UsageRow): UsageRow {
  const disputed = known.disputed && row.disputed && addCost(known.disputed, row.disputed)
  return {
    ...row,
    ...addUsage(known, row),
    seq: Math.max(known.seq, row.seq),
    ...defined({ disputed: disputed ?? known.disputed ?? row.disputed }),
  }
}

/** A row of a stored line; undefined for a line that is none. */
export function rowOf(line: string): UsageRow | undefined {
  const value = asRecord(parseJson(line))
  const [day, agent, workspace] = ['day', 'agent', 'workspace'].map((key) => asString(value[key]))
  const counts = COUNTS.map((key) => count(value[key]))
  if (day === undefined || !/^\d{4}-\d\d-\d\d$/.test(day) || agent === undefined || workspace === undefined)
    return undefined
  const [turns, unreported, withoutTokens, withoutCost, busyMs, seq] = counts
  if (turns === undefined || unreported === undefined || withoutTokens === undefined) return undefined
  if (withoutCost === undefined || busyMs === undefined || seq === undefined) return undefined
  return {
    day,
    agent,
    workspace,
    turns,
    unreported,
    withoutTokens,
    withoutCost,
    busyMs,
    seq,
    ...defined({
      session: asString(value['session']),
      cwd: asString(value['cwd']),
      model: asString(value['model']),
      tokens: value['tokens'] === undefined ? undefined : reportedTokens(asRecord(value['tokens'])),
      cost: costOf(value['cost']),
      disputed: costOf(value['disputed']),
    }),
  }
}

const COUNTS = ['turns', 'unreported', 'withoutTokens', 'withoutCost', 'busyMs', 'seq']

function count(value: unknown): number | undefined {
  const number = asNumber(value)
  return number !== undefined && number >= 0 ? number : undefined
}

function costOf(cost: Json[string]): Usage['cost'] {
  if (cost === undefined) return undefined
  return asList(cost).flatMap((each) => {
    const { amount, currency } = asRecord(each)
    return typeof currency === 'string' && typeof amount === 'number' ? [{ amount, currency }] : []
  })
}
