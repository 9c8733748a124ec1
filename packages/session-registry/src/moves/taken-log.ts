import { AgentprotoError, type EventGap, isRecord, parseJson } from '@agentproto/contracts'
import type { EventBatch, EventRecord, StoredLog } from '@agentproto/contracts/agent'
import { nextEvent, type Refuse } from '../archive/next-event.js'
import type { SessionRebuild } from '../archive/session-rebuild.js'
import type { EntryGroup } from '../log/event-log.js'
import { lostRecord, number, recordOf } from '../log/event-record.js'
import { sizeOfGap } from '../log/log-gap.js'

/** Copies the log of a session that another host had: the same events under the same numbers, each checked. */

export interface TakenLogOptions {
  readonly log: StoredLog
  readonly sessionId: string
  readonly rebuild: SessionRebuild
  readonly redact?: ((text: string) => string) | undefined
}

/** The largest event that is taken, in characters: one at the bound of a log fits with its envelope, however it was redacted. */
const MAX_CHARS = 16 * 1024 * 1024
/** How many events may be lost: each of them keeps its line. */
const MAX_LOST = 1_000_000
const BATCH = 512
const BATCH_CHARS = 4 * 1024 * 1024

export class TakenLog {
  readonly #options: TakenLogOptions
  #batch: EventRecord[] = []
  #chars = 0
  /** How many events are lost. */
  lost = 0

  constructor(options: TakenLogOptions) {
    this.#options = options
  }

  /** @throws `invalid_request` for anything that is no log of this session, `storage_failed` */
  async copy(batches: AsyncIterable<EventBatch>): Promise<void> {
    for await (const { gap, records } of batches) {
      if (gap !== undefined) await this.skip(gap)
      for (const record of records) await this.#write(this.#checked(record))
    }
    await this.flush()
  }

  /** The numbers of lost events are not used again. */
  async skip({ after, first }: EventGap): Promise<void> {
    const { rebuild } = this.#options
    if (after !== rebuild.lastSeq || !Number.isSafeInteger(first) || first <= after + 1)
      throw refuse('A gap does not follow the event before it', { expected: `after ${rebuild.lastSeq}`, given: after })
    this.lost += sizeOfGap({ after, first })
    if (this.lost > MAX_LOST) throw refuse('Too many of its events are lost', { expected: `at most ${MAX_LOST}` })
    rebuild.skip({ after, first })
    for (let seq = after + 1; seq < first; seq += 1) await this.#write(lostRecord(seq))
  }

  /** Adds what this host says. @param ts ISO-8601 */
  async append(groups: readonly EntryGroup[], ts: string): Promise<void> {
    const { rebuild, sessionId, redact } = this.#options
    for (const { entries, turn } of groups)
      for (const entry of entries) {
        const { record, event } = number(entry, { seq: rebuild.lastSeq + 1, ts, sessionId, turn }, redact)
        rebuild.apply(event)
        await this.#write(record)
      }
    await this.flush()
  }

  async flush(): Promise<void> {
    const batch = this.#batch
    this.#batch = []
    this.#chars = 0
    if (batch.length > 0) await this.#options.log.append(batch)
  }

  #checked(given: EventRecord): EventRecord {
    const { rebuild, sessionId, redact = (text: string): string => text } = this.#options
    const due = rebuild.lastSeq + 1
    if (typeof given.json !== 'string' || given.json.length > MAX_CHARS) throw refuse(`Event ${due} is too large`, {})
    const json = redact(given.json)
    const value = parseJson(json)
    const event = nextEvent(value, rebuild, refuse)
    if (!isRecord(value) || value['sessionId'] !== sessionId)
      throw refuse(`Event ${due} is of another session`, { expected: sessionId })
    // Readers look at the head of the line alone, so it has to say the same as the whole line.
    const record = json.includes('\n') ? undefined : recordOf(json)
    if (record === undefined || record.seq !== due || record.type !== event.type || given.seq !== due)
      throw refuse(`Event ${due} is not written as a log writes it`, { expected: 'seq, ts, sessionId, turn, type' })
    rebuild.apply(event)
    return record
  }

  async #write(record: EventRecord): Promise<void> {
    this.#batch.push(record)
    this.#chars += record.json.length
    if (this.#batch.length >= BATCH || this.#chars >= BATCH_CHARS) await this.flush()
  }
}

const refuse: Refuse = (what, parts) =>
  new AgentprotoError('invalid_request', `The session cannot be taken over: ${what}`, parts)
