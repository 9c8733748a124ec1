import type { EventGap, GapNotice, SessionEvent } from '@agentproto/contracts'

/** What a reader of a log gets: an event, or the notice that some are gone. */
export type LogItem = SessionEvent | GapNotice

export const gapNotice = (gap: EventGap): GapNotice => ({ type: 'gap', gap })

/** How many events are gone. */
export const sizeOfGap = ({ after, first }: EventGap): number => first - after - 1

/** For people. */
export function gapText({ after, first }: EventGap): string {
  const [from, to] = [after + 1, first - 1]
  return `${from >= to ? `event ${to}` : `events ${from} to ${to}`} cannot be read any more`
}
