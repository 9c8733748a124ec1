import {
  AgentprotoError,
  defined,
  type GapNotice,
  type QueuedTurn,
  type SessionEvent,
  type Turn,
  type TurnDetail,
  type TurnOutput,
  TurnParts,
  type TurnResult,
} from '@agentproto/contracts'
import type { EventRecord } from '@agentproto/contracts/agent'
import type { TurnQuery } from '@agentproto/contracts/wire'
import { eventOf } from '../log/event-record.js'
import { LoggedTurns, type TurnHistory, withChanges } from './turn-history.js'
import type { SessionHandle } from '../session/session-handle.js'
import type { LogReads } from '../log/log-batches.js'
import { gapNotice, type LogItem } from '../log/log-gap.js'

/** Turns that are no longer in memory, read from the log. */

const MAX_PAGE = 1_000

/** The log of a session, and what is known of its turns beside it. */
export interface TurnSource extends Logged {
  readonly turns: Pick<TurnHistory, 'all' | 'count' | 'output'>
}

/** What has a log. */
export interface Logged {
  readonly log: LogReads
}

/** A page of the turns of a session that have begun, oldest first. */
export async function readTurns(
  session: TurnSource,
  { after = 0, limit = MAX_PAGE }: TurnQuery = {},
): Promise<readonly Turn[]> {
  const known = session.turns.all
  const last = Math.min(after + Math.min(limit, MAX_PAGE), session.turns.count)
  if (last <= after) return []
  const oldest = known[0]?.number ?? Infinity
  if (oldest <= after + 1) return known.filter(({ number }) => number > after && number <= last)
  const turns: Turn[] = []
  for await (const turn of turnsOf(session)) {
    if (turn.number > after && turn.number <= last) turns.push(turn)
    if (turn.number >= last) break
  }
  return turns
}

/** One turn that has ended, with its output. @throws `turn_not_found` */
export async function readTurn(session: TurnSource, number: number): Promise<TurnResult> {
  const turn = await findTurn(session, number)
  return { ...turn, ...(session.turns.output(number) ?? (await outputOf(session, turn))) }
}

/** One turn with its prompt, or the prompt that waits for it. @throws `turn_not_found` */
export async function readTurnDetail(session: SessionHandle, number: number): Promise<TurnDetail | QueuedTurn> {
  const waiting = session.state.queue[number - session.turns.count - 1]
  if (waiting !== undefined) {
    const { queuedAt, content: prompt, isStopped } = waiting
    const stopped = isStopped ? { sent: false as const } : {}
    return { number, state: 'queued', queuedAt, ...stopped, prompt, afterSeq: session.log.lastSeq }
  }
  return withPrompt(session, await readTurn(session, number))
}

/** The turn with what it was asked, from the log. */
export async function withPrompt(session: Logged, result: TurnResult): Promise<TurnDetail> {
  for await (const event of eventsFrom(session, result.firstSeq)) {
    if (event.type === 'gap') continue
    if (event.type !== 'user-prompt' || event.turn !== result.number) break
    const { content: prompt, preface } = event
    return { ...result, prompt, ...defined({ preface }) }
  }
  return { ...result, prompt: [] }
}

/** The events of a session from a sequence number on, as far as they are stored, and what is missing among them. */
export async function* eventsFrom(session: Logged, from: number): AsyncGenerator<LogItem> {
  for await (const item of recordsFrom(session, from)) yield item.type === 'gap' ? item : eventOf(item)
}

async function findTurn(session: TurnSource, number: number): Promise<Turn> {
  const [turn] =
    Number.isSafeInteger(number) && number >= 1 ? await readTurns(session, { after: number - 1, limit: 1 }) : []
  if (turn !== undefined) return turn
  if (number <= session.turns.count && number >= 1)
    throw new AgentprotoError('storage_corrupt', `The events of turn ${number} are lost`)
  throw new AgentprotoError('turn_not_found', `The session has no turn ${number}`, {
    expected: session.turns.count === 0 ? 'a turn; it has had none' : `1 to ${session.turns.count}`,
    given: number,
  })
}

async function outputOf(session: Logged, { firstSeq, lastSeq = Infinity }: Turn): Promise<TurnOutput> {
  const parts = new TurnParts()
  for await (const event of eventsFrom(session, firstSeq)) {
    if (event.type === 'gap' && event.gap.after < lastSeq) parts.skip(event.gap)
    if (event.type === 'gap') continue
    if (event.seq > lastSeq) break
    parts.add(event)
  }
  return parts.output()
}

/** All turns, oldest first. Only events that are not output, or that come after a gap, are parsed. */
export async function* turnsOf(session: Logged): AsyncGenerator<Turn> {
  const turns = new LoggedTurns()
  // A turn's checkpoint may come while the next one runs, and never later.
  let ended: Turn[] = []
  for await (const item of recordsFrom(session, 1)) {
    if (item.type === 'gap') turns.lost = item.gap
    else if (item.type === 'checkpoint') ended = ended.map(changedBy(eventOf(item)))
    else if (turns.lost !== undefined || LoggedTurns.EVENTS.has(item.type)) {
      const over = turns.follow(eventOf(item))
      if (over.length > 0) yield* ended
      if (over.length > 0) ended = [...over]
    }
  }
  yield* ended
  if (turns.current !== undefined) yield turns.current
}

const changedBy =
  (event: SessionEvent) =>
  (turn: Turn): Turn =>
    event.type === 'checkpoint' && event.turn === turn.number ? withChanges(turn, event) : turn

async function* recordsFrom(session: Logged, from: number): AsyncGenerator<EventRecord | GapNotice> {
  for await (const { records, gap } of session.log.batches(from - 1)) {
    if (gap !== undefined) yield gapNotice(gap)
    yield* records
  }
}
