import {
  addUsage,
  type Clock,
  defined,
  isAgentprotoError,
  type SessionRequest,
  settlesWithin,
  type Usage,
} from '@agentproto/contracts'
import {
  type AllRules,
  BOUNDS,
  type PruneResult,
  type RequestPage,
  USAGE_BOUNDS,
  type UsageReport,
  type UsageReportRow,
  type WaitingQuery,
} from '@agentproto/contracts/wire'
import type { Caller } from '../calls/caller.js'
import { unreachable } from '../calls/exchange.js'
import type { HostCalls } from '../calls/host-calls.js'
import type { Owners } from './owners.js'

// Answers that are put together from those of all hosts. A host that does not answer is named; its part is missing.

/** A host that did not answer, and why. */
export interface Unanswered {
  readonly host: string
  readonly problem: string
}

/** What the hosts answered: this one first. */
export interface Answers<T> {
  readonly answers: readonly { readonly host: string; readonly answer: T }[]
  readonly unanswered?: readonly Unanswered[]
}

/**
 * Asks every host at once.
 * @throws what this host itself throws: a call that is wrong is wrong everywhere
 */
export async function askAll<T>(
  own: { readonly host: string; readonly answer: () => Promise<T> },
  others: readonly string[],
  ask: (host: string) => Promise<T>,
): Promise<Answers<T>> {
  const asked = await Promise.allSettled([own.answer(), ...others.map(ask)])
  const hosts = [own.host, ...others]
  const answers: { host: string; answer: T }[] = []
  const unanswered: Unanswered[] = []
  for (const [at, settled] of asked.entries()) {
    const host = hosts[at] ?? ''
    if (settled.status === 'fulfilled') answers.push({ host, answer: settled.value })
    else if (at === 0) throw settled.reason
    else unanswered.push({ host, problem: problemOf(settled.reason) })
  }
  return { answers, ...(unanswered.length > 0 && { unanswered }) }
}

/** Foreign errors do not reach this host: it gets problem documents. */
const problemOf = (thrown: unknown): string =>
  isAgentprotoError(thrown) ? `${thrown.code}: ${thrown.message}`.slice(0, 500) : 'internal'

/** A list is shown without a host that has just been lost, rather than late, in milliseconds. */
const LIST_MS = 3_000

interface Asking {
  /** This host. */
  readonly host: string
  readonly owners: Pick<Owners, 'others'>
  readonly calls: Pick<Caller, 'to'>
  readonly clock: Clock
}

/** As {@link askAll}, for a list: the part of a host that takes too long is missing. What it was asked goes on. */
export const askForList = <T>(
  { host, calls, clock, owners }: Asking,
  answer: () => Promise<T>,
  ask: (other: HostCalls) => Promise<T>,
): Promise<Answers<T>> =>
  askAll({ host, answer }, owners.others, async (other) => {
    const answered = ask(calls.to(other))
    if (await settlesWithin(LIST_MS, answered, clock)) return answered
    throw unreachable(other, 'The host does not answer in time')
  })

const listOf = <T>({ answers }: Answers<T>): readonly T[] => answers.map(({ answer }) => answer)

/** Oldest first. A page ends before what a host has left out of its own. */
export function mergeWaiting(asked: Answers<RequestPage>, { limit = BOUNDS.requestsMax }: WaitingQuery): RequestPage {
  const pages = listOf(asked)
  const ends = pages.flatMap(({ nextCursor }) => (nextCursor === undefined ? [] : [nextCursor])).toSorted()
  const [end] = ends
  const placed = pages
    .flatMap(({ requests }) => requests)
    .map((request) => ({ request, place: placeOf(request) }))
    .filter(({ place }) => end === undefined || place <= end)
    .toSorted((a, b) => (a.place < b.place ? -1 : 1))
  const page = placed.slice(0, limit)
  const hasMore = end !== undefined || placed.length > page.length
  return {
    requests: page.map(({ request }) => request),
    ...defined({ nextCursor: hasMore ? page.at(-1)?.place : undefined, unanswered: asked.unanswered }),
  }
}

/** The cursor of a request, as its host makes it: dates of one length are in the order of their text. */
const placeOf = ({ createdAt, sessionId, requestId }: SessionRequest): string =>
  `${createdAt} ${sessionId} ${requestId}`

const MAX_LISTED_RULES = 10_000

export function mergeRules(asked: Answers<AllRules>): AllRules {
  const all = listOf(asked)
  const rules = all.flatMap((each) => each.rules)
  const unread = all.flatMap((each) => each.unread ?? [])
  const omitted = all.reduce((sum, each) => sum + (each.omitted ?? 0), Math.max(0, rules.length - MAX_LISTED_RULES))
  return {
    rules: rules.slice(0, MAX_LISTED_RULES),
    ...(omitted > 0 && { omitted }),
    ...(unread.length > 0 && { unread }),
    ...defined({ unanswered: asked.unanswered }),
  }
}

export function mergePruned(asked: Answers<PruneResult>, dryRun: boolean): PruneResult {
  return { dryRun, pruned: listOf(asked).flatMap(({ pruned }) => pruned), ...defined({ unanswered: asked.unanswered }) }
}

/** Rows with the same key are added; the days are those of the first answer, which is this host's. */
export function mergeUsage(asked: Answers<UsageReport>): UsageReport | undefined {
  const [first, ...others] = listOf(asked)
  if (first === undefined) return undefined
  const sums = new Map<string | undefined, Usage>(first.rows.map((row) => [row.key, usageOf(row)]))
  let { total }: { total: Usage } = first
  for (const report of others) {
    total = addUsage(total, report.total)
    for (const row of report.rows) {
      const key = sums.has(row.key) || sums.size < USAGE_BOUNDS.reportRows ? row.key : undefined
      const known = sums.get(key)
      sums.set(key, known === undefined ? usageOf(row) : addUsage(known, usageOf(row)))
    }
  }
  const rows = Array.from(sums, ([key, usage]): UsageReportRow => ({ ...defined({ key }), ...usage }))
  rows.sort((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1))
  return { ...first, rows, total, ...defined({ unanswered: asked.unanswered }) }
}

function usageOf({ key: _key, ...usage }: UsageReportRow): Usage {
  return usage
}
