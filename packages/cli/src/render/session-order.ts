import type { Session } from '@agentproto/contracts'
import { sessionState } from './session-state.js'

/** By what `agentproto sessions` sorts; `s` goes through them in this order. */
export const SORT_KEYS = ['age', 'state', 'title', 'adapter', 'activity'] as const
export type SortKey = (typeof SORT_KEYS)[number]

/** `isReversed`: the other way round than the key's own way, in which what matters most stands first. */
export interface SessionOrder {
  readonly key: SortKey
  readonly isReversed: boolean
}

type Compare = (a: Session, b: Session) => number

/** What waits for somebody stands first, then what works, then what has ended. */
const STATES = ['awaiting input', 'busy', 'starting', 'idle', 'error', 'killed', 'exited']

const newestFirst: Compare = (a, b) => b.startedAt.localeCompare(a.startedAt) || a.id.localeCompare(b.id)
const titleOf = ({ label, title }: Session): string => label ?? title ?? ''

const COMPARE: Readonly<Record<SortKey, Compare>> = {
  age: newestFirst,
  state: (a, b) => STATES.indexOf(sessionState(a)) - STATES.indexOf(sessionState(b)),
  // Those without a title stand last.
  title: (a, b) => Number(titleOf(a) === '') - Number(titleOf(b) === '') || titleOf(a).localeCompare(titleOf(b)),
  adapter: (a, b) => a.adapterSlug.localeCompare(b.adapterSlug),
  activity: (a, b) => (b.lastOutputAt ?? '').localeCompare(a.lastOutputAt ?? ''),
}

/** Equals stand the newest first, so that a redrawn table does not shuffle them. */
export function inOrder(sessions: Iterable<Session>, { key, isReversed }: SessionOrder): Session[] {
  const compare = COMPARE[key]
  return [...sessions].toSorted((a, b) => (isReversed ? compare(b, a) : compare(a, b)) || newestFirst(a, b))
}

export const nextKey = ({ key }: SessionOrder): SessionOrder => ({
  key: SORT_KEYS[(SORT_KEYS.indexOf(key) + 1) % SORT_KEYS.length] ?? 'age',
  isReversed: false,
})

export const orderMark = ({ isReversed }: SessionOrder): string => (isReversed ? '▴' : '▾')
