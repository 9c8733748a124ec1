import type { Session, SessionStateName } from '@agentproto/contracts'
import { sessionState } from './session-text.js'

/** The sort keys of `agentproto sessions`; `s` in `--watch` steps through them in this order. */
export const SORT_KEYS = ['age', 'state', 'title', 'adapter', 'activity'] as const
export type SortKey = (typeof SORT_KEYS)[number]

/** The default order of a key shows the most important sessions first; `isReversed` reverses it. */
export interface SessionOrder {
  readonly key: SortKey
  readonly isReversed: boolean
}

type Compare = (a: Session, b: Session) => number

/** First those that wait for a user, then those that work, then those that have ended. */
export const RANK: Readonly<Record<SessionStateName, number>> = {
  waiting: 0,
  busy: 1,
  starting: 2,
  idle: 3,
  failed: 4,
  unreachable: 5,
  asleep: 6,
  ended: 7,
}

const newestFirst: Compare = (a, b) => b.startedAt.localeCompare(a.startedAt) || a.id.localeCompare(b.id)
const titleOf = ({ label, title }: Session): string => label ?? title ?? ''

const COMPARE: Readonly<Record<SortKey, Compare>> = {
  age: newestFirst,
  state: (a, b) => RANK[sessionState(a)] - RANK[sessionState(b)],
  // Sessions without a title come last.
  title: (a, b) => Number(titleOf(a) === '') - Number(titleOf(b) === '') || titleOf(a).localeCompare(titleOf(b)),
  adapter: (a, b) => a.adapterSlug.localeCompare(b.adapterSlug),
  activity: (a, b) => (b.lastOutputAt ?? '').localeCompare(a.lastOutputAt ?? ''),
}

/** Equal sessions are sorted newest first, so that a redraw does not shuffle them. */
export function inOrder(sessions: Iterable<Session>, { key, isReversed }: SessionOrder): Session[] {
  const compare = COMPARE[key]
  return [...sessions].toSorted((a, b) => (isReversed ? compare(b, a) : compare(a, b)) || newestFirst(a, b))
}

export const nextKey = ({ key }: SessionOrder): SessionOrder => ({
  key: SORT_KEYS[(SORT_KEYS.indexOf(key) + 1) % SORT_KEYS.length] ?? 'age',
  isReversed: false,
})

export const orderMark = ({ isReversed }: SessionOrder): string => (isReversed ? '▴' : '▾')
