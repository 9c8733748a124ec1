import {
  AgentprotoError,
  type Envelope,
  type HostEvent,
  parseJson,
  type SessionEvent,
  type SessionEventType,
  type StreamEvent,
} from '@agentproto/contracts'
import type { EventRecord } from '@agentproto/contracts/agent'

/** Numbers and serialises events once, and reads stored ones without parsing them. */

/** A stream event or a host event without its envelope. */
export type LogEntry = StreamEvent | HostEvent

/** The envelope of an entry. */
export interface Stamp {
  readonly seq: number
  readonly ts: string
  readonly sessionId: string
  readonly turn: number | undefined
}

/** At most this much of one event is kept (docs/events.md). */
const MAX_EVENT_CHARS = 8 * 1024 * 1024
const MAX_STRING_IN_CUT_EVENT = 64 * 1024

/** An entry as it is stored, and as an object for this process. */
export function number(
  entry: LogEntry,
  stamp: Stamp,
  redact?: (text: string) => string,
): { readonly record: EventRecord; readonly event: SessionEvent } {
  const body = serialise(entry)
  const fits = body.length <= MAX_EVENT_CHARS ? body : serialise(cutEntry(entry, body.length))
  const clean = redact === undefined ? fits : redact(fits)
  const turn = stamp.turn === undefined ? '' : `"turn":${stamp.turn},`
  const json = `{"seq":${stamp.seq},"ts":"${stamp.ts}","sessionId":"${stamp.sessionId}",${turn}${clean.slice(1)}`
  const record: EventRecord = { seq: stamp.seq, type: entry.type, json }
  return { record, event: clean === body ? eventWith(entry, stamp) : eventOf(record) }
}

/** An entry with its envelope, whose members stand first: after a spread, V8 makes each event a slow, old object. */
export const eventWith = (entry: LogEntry, { seq, ts, sessionId, turn }: Stamp): SessionEvent =>
  turn === undefined ? { seq, ts, sessionId, ...entry } : { seq, ts, sessionId, turn, ...entry }

/** Of a batch that does not follow the log. */
export const outOfOrder = (given: number, lastSeq: number): AgentprotoError =>
  new AgentprotoError('storage_failed', 'A batch does not follow the log', { expected: `seq ${lastSeq + 1}`, given })

/** Keeps the place of an event that is lost, so that the numbers after it are as they were. Readers of the log get a gap. */
export const lostRecord = (seq: number): EventRecord => ({ seq, type: 'extension', json: LOST })

const LOST = '{"lost":true}'
export const isLost = ({ json }: EventRecord): boolean => json === LOST

/** Reads the head of a stored line. Undefined for a line that is not an event. */
export function recordOf(json: string): EventRecord | undefined {
  if (!json.startsWith('{"seq":')) return undefined
  const seq = Number.parseInt(json.slice(7, 24), 10)
  const at = json.indexOf('"type":"')
  if (!Number.isSafeInteger(seq) || seq < 1 || at < 0 || at > 160) return undefined
  const type = json.slice(at + 8, json.indexOf('"', at + 8))
  return { seq, type: type as SessionEventType, json }
}

/** Like {@link recordOf}, for a line that this process did not write: undefined also when only its head is whole. */
export function wholeRecordOf(json: string): EventRecord | undefined {
  const record = recordOf(json)
  return record !== undefined && isWhole(json) ? record : undefined
}

/** Most lines of a log are these. Matching one costs a sixth of parsing it; a very long line would overflow the matcher. */
const TEXT_EVENT =
  /^\{"seq":[1-9]\d*,"ts":"[^"\\]*","sessionId":"[^"\\]*",(?:"turn":\d+,)?"type":"(?:text-delta|thought)","text":"(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[\da-fA-F]{4})*"(?:,"messageId":"[^"\\\u0000-\u001f]*")?\}$/
const MAX_MATCHED = 4_096

const isWhole = (json: string): boolean =>
  (json.length <= MAX_MATCHED && TEXT_EVENT.test(json)) || parseJson(json) !== undefined

export const eventOf = ({ json }: EventRecord): SessionEvent => JSON.parse(json) as SessionEvent

function serialise(entry: LogEntry): string {
  const json = JSON.stringify(entry)
  // `type` goes first so that a reader finds it in the first bytes; most producers write it there anyway.
  if (json.startsWith('{"type":')) return json
  const { type, ...rest } = entry
  return JSON.stringify({ type, ...rest })
}

function cutEntry(entry: LogEntry, originalChars: number): LogEntry {
  const cut: Pick<Envelope, 'cut'> = { cut: { originalChars } }
  return { ...(cutStrings(entry) as LogEntry), ...cut }
}

function cutStrings(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.length <= MAX_STRING_IN_CUT_EVENT ? value : `${value.slice(0, MAX_STRING_IN_CUT_EVENT)}…`
  }
  if (Array.isArray(value)) return value.slice(0, 1_000).map(cutStrings)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cutStrings(member)]))
}
