import { isLive, type Session } from '@agentproto/contracts'
import type { MovedSettings } from '@agentproto/contracts/agent'
import { ABSENT } from '../cluster/bucket.js'
import type { Confirmation } from './claim-outcome.js'
import type { SessionRecord } from './directory-records.js'
import { MAX_RECORD_BYTES } from './parse-record.js'

/** A session that this host has, and what the fleet knows of it. */
export class OwnedSession {
  readonly id: string
  session: Session
  settings: MovedSettings | undefined
  /** 0 until the fleet has a record of it. */
  epoch = 0
  revision = ABSENT
  /** The last revision that a gateway of the fleet has written, as far as is known. */
  signed = ABSENT
  /** The last revision that the copy has shown since the record was last read. */
  seen = ABSENT
  /** The term of the lease in which the record was last read or written: it is this host's own in that term. */
  term: string | undefined
  complete: number | undefined
  /** Whether another host may take it, as far as this host cannot exclude it. */
  isMovable: boolean
  isSaving = false
  /** Whether the record in the fleet may be another one than the last that was read or written. */
  mustRead = false
  #stored = ''
  #waiting: ((outcome: Confirmation) => void)[] = []

  constructor(session: Session, settings?: MovedSettings) {
    this.id = session.id
    this.session = session
    this.settings = settings
    this.isMovable = movable(session)
  }

  change(session: Session, settings?: MovedSettings): void {
    this.session = session
    this.settings = settings ?? this.settings
    this.isMovable ||= movable(session)
  }

  /** The record as it should be. */
  record(owner: string, term: string): SessionRecord {
    const { session, settings, complete } = this
    return {
      owner,
      epoch: this.epoch,
      term,
      session,
      ...(settings === undefined || !movable(session) ? {} : { settings }),
      ...(complete === undefined || isLive(session) || session.lastSeq > complete ? {} : { complete }),
    }
  }

  /** What an earlier run of this host had sent can be stored late, in place of a record that this run has read. */
  get isBehind(): boolean {
    return this.seen > this.revision
  }

  /** What the fleet has now. */
  stored(record: SessionRecord, revision: number): void {
    this.epoch = Math.max(this.epoch, record.epoch)
    this.revision = revision
    this.signed = revision
    this.isMovable = movable(record.session) || movable(this.session)
    this.settings ??= record.settings
    this.#stored = content(record)
  }

  /** Somebody else than a gateway has written over the record: as if there were none. @returns true */
  overwritten(): true {
    this.#stored = ''
    return true
  }

  /** Whether the record says what it should, apart from the term. */
  isStored(owner: string): boolean {
    return this.#stored === content(this.record(owner, ''))
  }

  /** Its whole log is in the fleet: nothing of it is written any more. */
  get isComplete(): boolean {
    const { session, complete } = this
    return complete !== undefined && !isLive(session) && session.lastSeq <= complete
  }

  confirmed(): Promise<Confirmation> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  settle(outcome: Confirmation): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve(outcome)
  }
}

const content = ({ owner, epoch, complete, session, settings }: SessionRecord): string =>
  JSON.stringify([owner, epoch, complete, session, settings])

/** Whether another host may go on with the session when its own is lost. */
export const movable = ({ onHostLoss }: Session): boolean => onHostLoss === 'move'

/** A record that is too large for the bucket is stored without what only details of a session show. */
export function bounded(record: SessionRecord): SessionRecord {
  if (JSON.stringify(record).length * 3 < MAX_RECORD_BYTES) return record
  const { agent: _agent, config: _config, ...session } = record.session
  return {
    ...record,
    session: { ...session, warnings: ['This record is too large for the fleet. Its host has all of it.'] },
  }
}
