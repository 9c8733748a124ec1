import type { AgentprotoError, SessionEvent } from '@agentproto/contracts'
import { isEvent } from '../log/event-shape.js'
import { LoggedTurns } from '../turns/turn-history.js'
import type { SessionRebuild } from './session-rebuild.js'

/** Says what is wrong with what another host has written. */
export type Refuse = (what: string, parts: { readonly expected?: string; readonly given?: unknown }) => AgentprotoError

/** Checks that a value is the event that comes next in a log. @throws what `refuse` makes */
export function nextEvent(value: unknown, rebuild: SessionRebuild, refuse: Refuse): SessionEvent {
  const due = rebuild.lastSeq + 1
  if (!isEvent(value))
    throw refuse(`Event ${due} is not an event`, { expected: 'seq, ts, type and what the type needs' })
  if (value.seq !== due) throw refuse('The events are not in order', { expected: `seq ${due}`, given: value.seq })
  rebuild.find(value)
  const { current } = rebuild.turns
  const fits =
    value.type === 'user-prompt'
      ? rebuild.admits(value)
      : value.turn === undefined || value.turn === current?.number || isAfterTurn(value, rebuild.turns.count)
  if (!fits) throw refuse(`Event ${due} does not belong to the running turn`, { given: value.turn })
  return value
}

/** Whether it belongs to a turn that has ended. */
const isAfterTurn = ({ type, turn = 0 }: SessionEvent, turnCount: number): boolean =>
  LoggedTurns.AFTER_TURN.has(type) && turn <= turnCount
