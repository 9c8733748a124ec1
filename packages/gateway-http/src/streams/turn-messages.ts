import type { EventBatch, EventRecord } from '@agentproto/contracts/agent'
import type { EventReader, SessionService } from '@agentproto/contracts/wire'
import { eventMessages } from './sse-messages.js'
import type { SseSource } from './sse-body.js'

/**
 * The events of one turn as messages, from its prompt to its `turn-end`. A session has one turn at a time, so all events in
 * between belong to it.
 */
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
  return new FromTurn(await sessions.follow(id, waiting.afterSeq), turn)
}

/** A reader that starts with a turn that has not begun. */
class FromTurn implements EventReader {
  readonly #reader: EventReader
  readonly #turn: number
  #begun = false

  constructor(reader: EventReader, turn: number) {
    this.#reader = reader
    this.#turn = turn
  }

  async next(signal?: AbortSignal): Promise<EventBatch | undefined> {
    for (;;) {
      const batch = await this.#reader.next(signal)
      if (batch === undefined || this.#begun) return batch
      const first = batch.records.findIndex((record) => begins(record, this.#turn))
      this.#begun = first >= 0
      if (this.#begun) return { ...batch, records: batch.records.slice(first) }
      if (signal?.aborted) return batch.gap === undefined ? { records: [] } : { records: [], gap: batch.gap }
    }
  }

  close(): void {
    this.#reader.close()
  }
}

const begins = ({ type, json }: EventRecord, turn: number): boolean =>
  type === 'user-prompt' && (JSON.parse(json) as { readonly turn?: number }).turn === turn
