import {
  AgentprotoError,
  asString,
  defined,
  type EventGap,
  type Json,
  type NewId,
  type Session,
  type SessionEvent,
} from '@agentproto/contracts'
import type { EventRecord, EventStore, StoredLog, StoredSession } from '@agentproto/contracts/agent'
import { ARCHIVE_BOUNDS } from '@agentproto/contracts/wire'
import { eventsOf } from '../log/event-log.js'
import { isGapNotice } from '../log/event-shape.js'
import { exportedIn } from './exported-text.js'
import { sizeOfGap } from '../log/log-gap.js'
import { newSession } from '../lifecycle/spawn-request.js'
import { assertSessionId, SESSION_ID_PREFIX } from '../records/session-id.js'
import { nextEvent } from './next-event.js'
import { SessionRebuild } from './session-rebuild.js'

/**
 * Imports a session of another host. Its log is copied event by event, and its record is rebuilt from that log; of the
 * descriptor in the text only names are used. It never runs again: the author of the text must not decide where an agent of
 * this host runs, or what it may do.
 */

export interface ImportHost {
  readonly logs: EventStore
  readonly newId: NewId
  /** Of this host. */
  readonly hostId: string
  /** Whether the id of a session is free; then no other import gets it. */
  readonly reserve: (session: Session) => Promise<boolean>
  /** ISO-8601. */
  readonly now: string
  readonly redact?: (text: string) => string
}

const BATCH = 512

/** @throws `invalid_request`, `payload_too_large`, `storage_failed`; nothing is left of the log then */
export async function importSession(text: AsyncIterable<string>, host: ImportHost): Promise<StoredSession> {
  const { head, events } = await exportedIn(text)
  const begun = await begin(head.session, host)
  const { id } = begun
  const { log } = await host.logs.open(id)
  try {
    if (log.lastSeq > 0) throw new AgentprotoError('storage_corrupt', 'A log without a record has the new id')
    const rebuild = new SessionRebuild(begun)
    await copy(events, new Writer(log, id, host.redact), rebuild)
    return { version: 1, session: ended(rebuild), turns: rebuild.turns.all.slice(-50), requests: [], spawn: {} }
  } catch (error) {
    await log.close()
    await host.logs.delete(id)
    throw error
  } finally {
    await log.close()
  }
}

/** The session before its first event, with its own id where that is free. */
async function begin(given: Json, host: ImportHost): Promise<Session> {
  const { id } = given
  if (typeof id !== 'string') throw invalid('The session has no id', { expected: 'an export of a session' })
  // An id names a folder, so it is checked.
  const session = sessionOf(given, assertSessionId(id), host)
  return (await host.reserve(session)) ? session : sessionOf(given, host.newId(SESSION_ID_PREFIX), host)
}

/** What is used of a session that ran elsewhere. */
function sessionOf(given: Json, id: string, { now, hostId }: Pick<ImportHost, 'now' | 'hostId'>): Session {
  const text = (key: string): string | undefined => asString(given[key])?.slice(0, MAX_NAME)
  const startedAt = Date.parse(text('startedAt') ?? now)
  const request = defined({ adapter: text('adapterSlug') || 'unknown', label: text('label'), title: text('title') })
  const creation = { id, now: Number.isNaN(startedAt) ? now : new Date(startedAt).toISOString(), hostId }
  return {
    ...newSession(request, { type: 'owner', name: 'import' }, creation),
    adapterSlug: request.adapter,
    workspaceSlug: text('workspaceSlug') || 'imported',
    cwd: text('cwd') || '/',
    lastActiveAt: now,
    warnings: [],
    imported: { at: now, id: text('id') || id, hostId: text('hostId') || 'unknown' },
  }
}

const MAX_NAME = 4_096

async function copy(events: AsyncIterable<unknown>, writer: Writer, rebuild: SessionRebuild): Promise<void> {
  let gone = 0
  for await (const value of events) {
    if (isGapNotice(value)) {
      gone += sizeOfGap(value.gap)
      if (gone > ARCHIVE_BOUNDS.importGoneEvents) throw invalid('Too many of its events are gone', {})
      await writer.fill(value.gap, rebuild)
      continue
    }
    const event = nextEvent(value, rebuild, invalid)
    rebuild.apply(event)
    await writer.write(event)
  }
  if (rebuild.lastSeq === 0) throw invalid('The export has no event', { expected: 'events from seq 1 on' })
  // It was exported while it ran, so its log has no end.
  const ending = { status: 'error', stopReason: 'error' } as const
  const ends = rebuild.missingEnds({ detail: 'The session was exported before it had ended', ending })
  const { lastActiveAt: ts, id: sessionId } = rebuild.session
  for (const event of eventsOf(ends, { seq: rebuild.lastSeq + 1, ts, sessionId })) {
    rebuild.apply(event)
    await writer.write(event)
  }
  await writer.flush()
}

const ended = ({ session }: SessionRebuild): Session => ({ ...session, resumable: false })

class Writer {
  readonly #log: StoredLog
  readonly #id: string
  readonly #redact: (text: string) => string
  #batch: EventRecord[] = []

  constructor(log: StoredLog, id: string, redact: (text: string) => string = (text) => text) {
    this.#log = log
    this.#id = id
    this.#redact = redact
  }

  async write({ seq, ts, sessionId: _, turn, type, ...payload }: SessionEvent): Promise<void> {
    const json = this.#redact(JSON.stringify({ seq, ts, sessionId: this.#id, turn, type, ...payload }))
    if (json.length > ARCHIVE_BOUNDS.importLineChars) throw invalid(`Event ${seq} is too large`, {})
    this.#batch.push({ seq, type, json })
    if (this.#batch.length >= BATCH) await this.flush()
  }

  /** A `repair` event takes the number of each lost event, so that later events keep their numbers. */
  async fill({ after, first }: EventGap, rebuild: SessionRebuild): Promise<void> {
    if (after !== rebuild.lastSeq) throw invalid('A gap does not follow the event before it', { given: after })
    const { lastActiveAt: ts, id: sessionId } = rebuild.session
    rebuild.skip({ after, first })
    for (let seq = after + 1; seq < first; seq += 1) {
      const detail = `event ${seq} could not be read when the session was exported`
      await this.write({ seq, ts, sessionId, type: 'repair', detail })
    }
  }

  async flush(): Promise<void> {
    const batch = this.#batch
    this.#batch = []
    if (batch.length > 0) await this.#log.append(batch)
  }
}

const invalid = (what: string, parts: { readonly expected?: string; readonly given?: unknown }): AgentprotoError =>
  new AgentprotoError('invalid_request', `The export cannot be imported: ${what}`, parts)
