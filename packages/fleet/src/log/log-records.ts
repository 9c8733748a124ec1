import { isUtf8 } from 'node:buffer'
import {
  AgentprotoError,
  HOST_EVENT_CHECKS,
  isRecord,
  parseJson,
  type SessionEventType,
  STREAM_EVENT_CHECKS,
} from '@agentproto/contracts'
import type { EventRecord } from '@agentproto/contracts/agent'

/** What the lines of a message must be: events of this session, with these numbers. */
export interface ExpectedLines {
  readonly sessionId: string
  readonly first: number
  readonly last: number
}

/**
 * The events in the body of a message. An event of a type that this version does not know is left out: a newer gateway wrote
 * it, and the reader sees a gap at its number.
 * @throws `storage_corrupt` if any line is not an event of the session with the expected number
 */
export function recordsIn(body: Uint8Array, { sessionId, first, last }: ExpectedLines): EventRecord[] {
  if (!isUtf8(body)) throw refused('UTF-8', 'other bytes')
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()
  const records: EventRecord[] = []
  let from = 0
  for (let seq = first; seq <= last; seq += 1) {
    const eol = seq === last ? text.length : text.indexOf('\n', from)
    if (eol < 0) throw refused(`${last - first + 1} lines`, `${seq - first + 1}`)
    const record = recordOf(text.slice(from, eol), `{"seq":${seq},"ts":"`, sessionId)
    if (record !== undefined) records.push({ seq, ...record })
    from = eol + 1
  }
  return records
}

/** Bytes of the lines of events, as a message carries them. */
export const linesOf = (records: readonly EventRecord[]): Buffer =>
  Buffer.from(records.map(({ json }) => json).join('\n'))

const TIME_CHARS = '2026-01-01T00:00:00.000Z'.length
const CHECKS = { ...STREAM_EVENT_CHECKS, ...HOST_EVENT_CHECKS }

/** Most lines of a log are these. Matching one costs a sixth of parsing it; a very long line would overflow the matcher. */
const TEXT_EVENT =
  /^(?:"turn":\d{1,15},)?"type":"(text-delta|thought)","text":"(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[\da-fA-F]{4})*"(?:,"messageId":"[^"\\\u0000-\u001f]*")?\}$/
const MAX_MATCHED = 4_096
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** @param head how the line must begin, up to its time. @returns undefined for a type that is not known here */
function recordOf(json: string, head: string, sessionId: string): Omit<EventRecord, 'seq'> | undefined {
  const time = json.slice(head.length, head.length + TIME_CHARS)
  const rest = head.length + TIME_CHARS
  const session = `","sessionId":"${sessionId}",`
  if (!json.startsWith(head) || !TIME.test(time) || !json.startsWith(session, rest))
    throw refused(`${head}…${session}`, json.slice(0, rest + session.length))
  const type = textType(json, rest + session.length) ?? parsedType(json)
  return type === undefined ? undefined : { type, json }
}

function textType(json: string, from: number): SessionEventType | undefined {
  if (json.length > MAX_MATCHED) return undefined
  const type = TEXT_EVENT.exec(json.slice(from))?.[1]
  return type === 'text-delta' || type === 'thought' ? type : undefined
}

function parsedType(json: string): SessionEventType | undefined {
  const event = parseJson(json)
  if (!isRecord(event)) throw refused('JSON', json.slice(0, 100))
  const { type, turn } = event
  if (typeof type !== 'string' || (turn !== undefined && !Number.isSafeInteger(turn)))
    throw refused('an event with a type', json.slice(0, 100))
  if (!isKnown(type)) return undefined
  if (!CHECKS[type](event)) throw refused(`what a ${type} has`, json.slice(0, 100))
  return type
}

const isKnown = (type: string): type is SessionEventType => Object.hasOwn(CHECKS, type)

const refused = (expected: string, given: string): AgentprotoError =>
  new AgentprotoError('storage_corrupt', "A line in the fleet's log is not an event of its session", {
    expected,
    given,
  })
