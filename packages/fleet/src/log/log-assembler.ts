import { AgentprotoError } from '@agentproto/contracts'
import type { EventBatch, EventRecord } from '@agentproto/contracts/agent'
import type { LogMessage } from './log-message.js'
import { recordsIn } from './log-records.js'

/**
 * Makes of the messages of one session what its readers get: every event once and in order, each hole as a gap. Holds at most
 * the parts of one event.
 */
export class LogAssembler {
  readonly #sessionId: string
  #cursor: number
  #epoch = 0
  #parts: Parts | undefined

  /** @param after Number of the last event that the reader has */
  constructor(sessionId: string, after: number) {
    this.#sessionId = sessionId
    this.#cursor = after
  }

  /** Number of the last event that was given out. */
  get cursor(): number {
    return this.#cursor
  }

  /** @throws `storage_corrupt` for a message that is refused; the reader goes on with the next one */
  take(message: LogMessage): readonly EventBatch[] {
    if (message.epoch < this.#epoch) throw outdated(this.#epoch, message.epoch)
    if (message.epoch > this.#epoch) this.#parts = undefined
    const batches = this.#handle(message)
    // Only of a message that was accepted: a damaged one must not end those of the owner.
    this.#epoch = message.epoch
    return batches
  }

  #handle(message: LogMessage): readonly EventBatch[] {
    const { kind, first, last, body } = message
    if (kind !== 'part') this.#parts = undefined
    switch (kind) {
      case 'events':
        return last <= this.#cursor
          ? []
          : this.#give(recordsIn(body, { sessionId: this.#sessionId, first, last }), last)
      case 'part':
        return this.#takePart(message)
      case 'gap':
        return this.#give([], last)
      case 'owner':
        return this.#changeOwner(message)
      case 'end':
        return last > this.#cursor ? this.#give([], last) : []
    }
  }

  /** Events up to `last` that are neither known nor given are a gap. */
  #give(records: readonly EventRecord[], last: number): readonly EventBatch[] {
    const batches: EventBatch[] = []
    let run: EventRecord[] = []
    const flush = (): void => {
      const first = run[0]?.seq ?? last + 1
      if (first > this.#cursor + 1) batches.push({ records: run, gap: { after: this.#cursor, first } })
      else if (run.length > 0) batches.push({ records: run })
      this.#cursor = Math.max(this.#cursor, run.at(-1)?.seq ?? last)
      run = []
    }
    for (const record of records) {
      if (record.seq <= this.#cursor) continue
      if (run.length > 0 && record.seq !== (run.at(-1)?.seq ?? 0) + 1) flush()
      run.push(record)
    }
    if (run.length > 0) flush()
    if (this.#cursor < last) flush()
    return batches
  }

  #takePart({ first: seq, part, body }: LogMessage): readonly EventBatch[] {
    if (part === undefined || seq <= this.#cursor) return []
    if (part.offset === 0) this.#parts = { seq, total: part.total, chunks: [], bytes: 0 }
    const parts = this.#parts
    // Not the next bytes: its beginning was removed, or it is torn.
    if (parts?.seq !== seq || parts.total !== part.total || parts.bytes !== part.offset)
      return part.offset + body.length < part.total ? [] : this.#give([], seq)
    parts.chunks.push(body)
    parts.bytes += body.length
    if (parts.bytes < parts.total) return []
    this.#parts = undefined
    return this.#give(
      recordsIn(Buffer.concat(parts.chunks), { sessionId: this.#sessionId, first: seq, last: seq }),
      seq,
    )
  }

  /** A reader that has events of the earlier owner that were never published: they are void, and others get their numbers. */
  #changeOwner({ epoch, last }: LogMessage): readonly EventBatch[] {
    if (this.#cursor < last) return this.#give([], last)
    if (this.#cursor === last || epoch === this.#epoch) return []
    const gap = { after: this.#cursor, first: last + 1 }
    this.#cursor = last
    return [{ records: [], gap }]
  }
}

const outdated = (epoch: number, given: number): AgentprotoError =>
  new AgentprotoError('storage_corrupt', 'The message is of an owner that has lost the session before', {
    expected: `epoch ${epoch}`,
    given,
  })

interface Parts {
  readonly seq: number
  readonly total: number
  readonly chunks: Uint8Array[]
  bytes: number
}
