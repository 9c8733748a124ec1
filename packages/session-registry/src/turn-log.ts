import {
  AgentprotoError,
  type EventRecord,
  type QueuedTurn,
  type SessionEvent,
  type Turn,
  type TurnDetail,
  type TurnOutput,
  TurnParts,
  type TurnQuery,
  type TurnResult,
} from '@agentproto/contracts'
import { eventOf } from './event-record.js'
import type { ManagedSession } from './managed-session.js'
import { begunTurn, endedTurn } from './turn-record.js'

/** Turns that are not in memory any more, read from the log again. */

const READ = 2_048
const MAX_PAGE = 1_000

/** A page of the turns of a session that have begun, oldest first. */
export async function readTurns(
  session: ManagedSession,
  { after = 0, limit = MAX_PAGE }: TurnQuery = {},
): Promise<readonly Turn[]> {
  const known = session.turns.all
  const last = Math.min(after + Math.min(limit, MAX_PAGE), session.turns.count)
  if (last <= after) return []
  const oldest = known[0]?.number ?? Infinity
  if (oldest <= after + 1) return known.filter(({ number }) => number > after && number <= last)
  const turns: Turn[] = []
  for await (const turn of turnsOf(session)) {
    if (turn.number > after) turns.push(turn)
    if (turn.number >= last) break
  }
  return turns
}

/** One turn that has ended, with its output. @throws `turn_not_found` */
export async function readTurn(session: ManagedSession, number: number): Promise<TurnResult> {
  const turn = await findTurn(session, number)
  return { ...turn, ...(session.turns.output(number) ?? (await outputOf(session, turn))) }
}

/** One turn with its prompt, or the prompt that waits for it. @throws `turn_not_found` */
export async function readTurnDetail(session: ManagedSession, number: number): Promise<TurnDetail | QueuedTurn> {
  const waiting = session.queue.turn(number, { count: session.turns.count, lastSeq: session.journal.lastSeq })
  if (waiting !== undefined) return waiting
  const result = await readTurn(session, number)
  for await (const record of recordsFrom(session, result.firstSeq)) {
    const event = eventOf(record)
    if (event.type !== 'user-prompt') break
    const { content: prompt, preface } = event
    return { ...result, prompt, ...(preface === undefined ? {} : { preface }) }
  }
  return { ...result, prompt: [] }
}

/** The events of a session from a sequence number on, as far as they are stored. */
export async function* eventsFrom(session: ManagedSession, from: number): AsyncGenerator<SessionEvent> {
  for await (const record of recordsFrom(session, from)) yield eventOf(record)
}

async function findTurn(session: ManagedSession, number: number): Promise<Turn> {
  const [turn] =
    Number.isSafeInteger(number) && number >= 1 ? await readTurns(session, { after: number - 1, limit: 1 }) : []
  if (turn !== undefined) return turn
  throw new AgentprotoError('turn_not_found', `The session has no turn ${number}`, {
    expected: session.turns.count === 0 ? 'a turn; it has had none' : `1 to ${session.turns.count}`,
    given: number,
  })
}

async function outputOf(session: ManagedSession, { firstSeq, lastSeq = Infinity }: Turn): Promise<TurnOutput> {
  const parts = new TurnParts()
  for await (const event of eventsFrom(session, firstSeq)) {
    if (event.seq > lastSeq) break
    parts.take(event)
  }
  return parts.output()
}

/** All turns, oldest first; of their events only those are parsed that tell of more than output. */
async function* turnsOf(session: ManagedSession): AsyncGenerator<Turn> {
  let number = 0
  let open: { readonly turn: Turn; error: string | undefined } | undefined
  for await (const record of recordsFrom(session, 1)) {
    if (!TELLING.has(record.type)) continue
    const event = eventOf(record)
    if (event.type === 'user-prompt') {
      number = event.turn ?? number + 1
      open = { turn: begunTurn(number, event, event), error: undefined }
    } else if (open === undefined || event.turn !== number) continue
    else if (event.type === 'error') open.error = event.message
    else if (event.type === 'turn-end') {
      yield endedTurn(open.turn, event, open.error)
      open = undefined
    }
  }
  if (open !== undefined) yield open.turn
}

const TELLING: ReadonlySet<string> = new Set(['user-prompt', 'error', 'turn-end'])

async function* recordsFrom(session: ManagedSession, from: number): AsyncGenerator<EventRecord> {
  const { spine } = await session.journal.open()
  let cursor = from - 1
  for (;;) {
    const { records } = await spine.read(cursor, READ)
    const last = records.at(-1)
    if (last === undefined) return
    yield* records
    cursor = last.seq
  }
}
