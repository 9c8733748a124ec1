import type { EventBatch, EventRecord } from '@agentproto/contracts/agent'
import type { EventReader, SessionService } from '@agentproto/contracts/wire'
import { eventMessages } from './sse-messages.js'
import type { SseSource } from './sse-body.js'

/** The events of one turn as messages, from its prompt to its `turn-end`: a session has one turn at a time. */
export async function turnMessages(
  sessions: SessionService,
  id: string,
  { turn }: { readonly turn: number },
): Promise<SseSource> {
  return eventMessages(await readerFrom(sessions, id, turn), (record) => record.type === 'turn-end')
}

async function readerFrom(sessions: SessionService, id: string, turn: number): Promise<EventReader> {
  const [begun] = await sessions.turns(id, { after: turn - 1, limit: 1 })
  if (begun !== undefined) return sessions.follow(id, begun.firstSeq - 1)
  const waiting = await sessions.turn(id, turn)
  if (waiting.state !== 'queued') return sessions.follow(id, waiting.firstSeq - 1)
  return fromTurn(await sessions.follow(id, waiting.afterSeq), turn)
}

/** A reader that starts with a turn that has not begun. */
function fromTurn(reader: EventReader, turn: number): EventReader {
  let begun = false
  async function next(signal?: AbortSignal): Promise<EventBatch | undefined> {
    for (;;) {
      const batch = await reader.next(signal)
      if (batch === undefined || begun) return batch
      const first = batch.records.findIndex((record) => begins(record, turn))
      begun = first >= 0
      if (begun) return { ...batch, records: batch.records.slice(first) }
      if (signal?.aborted) return { ...batch, records: [] }
    }
  }
  return { next, close: () => reader.close() }
}

const begins = ({ type, json }: EventRecord, turn: number): boolean =>
  type === 'user-prompt' && (JSON.parse(json) as { readonly turn?: number }).turn === turn
