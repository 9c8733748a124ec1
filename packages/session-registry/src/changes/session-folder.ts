import { sep } from 'node:path'
import type { Session } from '@agentproto/contracts'
import type { SessionCache } from '../session-cache.js'

/** Which other sessions work in the folder of a session. */

/** An interval of time, in milliseconds since the epoch. */
export interface Interval {
  readonly from: number
  readonly to: number
}

/** Whether another session worked in the folder of a session, in one above or in one below, at some time of the interval. */
export function isShared(sessions: SessionCache, id: string, during: Interval): boolean {
  return neighbours(sessions, id)
    .filter(
      ({ startedAt, lastActiveAt }) => Date.parse(startedAt) <= during.to && Date.parse(lastActiveAt) >= during.from,
    )
    .some((other) => hasWorked(sessions, other, during))
}

/** The live sessions in the folder of a session, in one above or in one below. */
export function liveNeighbours(sessions: SessionCache, id: string): readonly Session[] {
  const live = new Set(sessions.live.map((session) => session.id))
  return neighbours(sessions, id).filter((other) => live.has(other.id))
}

function neighbours(sessions: SessionCache, id: string): readonly Session[] {
  const root = sessions.root(id)
  return sessions.ids
    .filter((other) => other !== id && areNested(root, sessions.root(other)))
    .flatMap((other) => sessions.descriptor(other) ?? [])
    .filter(({ imported }) => imported === undefined)
}

/** By its turns, as far as its record has them. */
function hasWorked(sessions: SessionCache, { id, turnCount }: Session, { from, to }: Interval): boolean {
  const turns = sessions.get(id).turns.all
  const isKnown = turns.length === turnCount
  const overlaps = turns.some(
    ({ startedAt, endedAt }) => Date.parse(startedAt) <= to && (endedAt === undefined || Date.parse(endedAt) >= from),
  )
  const [oldest] = turns
  return overlaps || (!isKnown && (oldest === undefined || Date.parse(oldest.startedAt) > from))
}

const areNested = (a: string, b: string): boolean => a === b || isBelow(a, b) || isBelow(b, a)
const isBelow = (inner: string, outer: string): boolean =>
  inner.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`)
