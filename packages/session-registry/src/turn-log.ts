import { AgentprotoError, type SessionEvent, type Turn, type TurnResult } from '@agentproto/contracts'
import { eventOf } from './event-record.js'
import type { ManagedSession } from './managed-session.js'
import { TurnBook } from './turn-book.js'

/** Turns that are not in memory any more, read from the log again. */

const READ = 2_048

/** All turns of a session, oldest first. */
export async function readTurns(session: ManagedSession): Promise<readonly Turn[]> {
  const known = session.turns.all
  if (known.length === session.turns.count) return known
  const book = new TurnBook([], 0)
  const kept: Turn[] = []
  for await (const event of eventsFrom(session, 1)) {
    if (event.type === 'user-prompt') book.begin(event.seq, event.ts)
    book.follow(event)
    if (event.type === 'turn-end') kept.push(...book.all.slice(-1))
  }
  return book.current === undefined ? kept : [...kept, book.current]
}

/** One turn that has ended, with its text. @throws `turn_not_found` */
export async function readTurn(session: ManagedSession, number: number): Promise<TurnResult> {
  const known = session.turns.get(number) ?? (await readTurns(session)).find((turn) => turn.number === number)
  if (known === undefined) {
    throw new AgentprotoError('turn_not_found', `The session has no turn ${number}`, {
      expected: `1 to ${session.turns.count}`,
      given: number,
    })
  }
  let text = ''
  for await (const event of eventsFrom(session, known.firstSeq)) {
    if (event.seq > (known.lastSeq ?? Infinity)) break
    if (event.type === 'text-delta') text += event.text
  }
  return { ...known, text }
}

/** The events of a session from a sequence number on, as far as they are stored. */
export async function* eventsFrom(session: ManagedSession, from: number): AsyncGenerator<SessionEvent> {
  const { spine } = await session.journal.open()
  let cursor = from - 1
  for (;;) {
    const { records } = await spine.read(cursor, READ)
    const last = records.at(-1)
    if (last === undefined) return
    for (const record of records) yield eventOf(record)
    cursor = last.seq
  }
}
