import { AgentprotoError } from '@agentproto/contracts'
import { headers, type MsgHdrs } from '@nats-io/transport-node'
import type { StoredHeaders, StoredSignatures } from '../keys/stored-signature.js'

/**
 * What one message of the fleet's log says: about the events with the numbers `first` to `last`, or none if `first` is
 * `last + 1`. The numbers of a subject never go back, also when the session gets another owner.
 *
 * - `events`: one stored batch, or whole events of it. The body has their lines as they are stored.
 * - `part`: bytes of the one event `first`, which is larger than a message.
 * - `gap`: these events are lost on the host that had them.
 * - `owner`: the session has another owner from here on. Nothing of an earlier owner can be stored after it.
 * - `end`: the session has ended, and its whole log is here. More follows only after a resume.
 */
export interface LogMessage {
  readonly kind: LogMessageKind
  /** Of the owner that stored it. */
  readonly epoch: number
  readonly first: number
  readonly last: number
  /** Of a `part`: where its bytes begin in the event, and how many the event has. */
  readonly part?: { readonly offset: number; readonly total: number }
  readonly body: Uint8Array
}

const KINDS = ['events', 'part', 'gap', 'owner', 'end'] as const
export type LogMessageKind = (typeof KINDS)[number]

/** An event of more bytes is not in the fleet's log; readers see a gap. Four times what an event may have in characters. */
export const MAX_EVENT_BYTES = 32 * 1024 * 1024

/** More than the headers of any message need. */
export const HEADER_BYTES = 1_024

/** A batch of the local log has at most 1 024 events; this leaves room for others. */
const MAX_EVENTS = 16_384

const KIND = 'Agentproto-Log'
const EPOCH = 'Agentproto-Epoch'
const FIRST = 'Agentproto-First'
const LAST = 'Agentproto-Last'
const PART = 'Agentproto-Part'

export const NO_BODY = new Uint8Array(0)

/** A message of no event, after the event `lastSeq`. */
export const markerOf = (kind: 'owner' | 'end', epoch: number, lastSeq: number): LogMessage => ({
  kind,
  epoch,
  first: lastSeq + 1,
  last: lastSeq,
  body: NO_BODY,
})

export function headersOf({ kind, epoch, first, last, part }: LogMessage): MsgHdrs {
  const all = headers()
  all.set(KIND, kind)
  all.set(EPOCH, String(epoch))
  all.set(FIRST, String(first))
  all.set(LAST, String(last))
  if (part !== undefined) all.set(PART, `${part.offset}/${part.total}`)
  return all
}

/**
 * Names a message for the server, which stores it once. The last number is part of it: a batch that begins like a stored one
 * but is longer must not be taken for that.
 */
export function messageId(sessionId: string, { kind, epoch, first, last, part, body }: LogMessage): string {
  const bytes = part === undefined ? '' : `.${part.offset}-${part.offset + body.length}`
  return `${sessionId}.${epoch}.${kind}.${first}-${last}${bytes}`
}

/** Number of the last event that is wholly stored once this message is. */
export const lastWhole = ({ kind, first, last, part, body }: LogMessage): number =>
  kind === 'part' && part !== undefined && part.offset + body.length < part.total ? first - 1 : last

/**
 * Reads a stored message strictly: other clients of the NATS account can write to the subject, too.
 * @throws `storage_corrupt` for anything that no publisher of ours stores
 */
export function parseLogMessage(stored: StoredHeaders, signatures: StoredSignatures): LogMessage {
  const { headers: all, body } = stored
  if (!signatures.isSigned(stored)) throw refused('a message that a gateway of the fleet has signed', 'another one')
  const kind = KINDS.find((known) => known === all?.get(KIND))
  if (all === undefined || kind === undefined) throw refused('a known kind', all?.get(KIND) ?? 'no headers')
  const epoch = numberIn(all, EPOCH, 1)
  const first = numberIn(all, FIRST, 1)
  const last = numberIn(all, LAST, 0)
  const message = { kind, epoch, first, last, body }
  if (kind !== 'part' && all.get(PART) !== '') throw refused('no part', all.get(PART))
  CHECKS[kind](message)
  return kind === 'part' ? { ...message, part: partIn(all, body) } : message
}

type Checked = Omit<LogMessage, 'part'>

const CHECKS: Readonly<Record<LogMessageKind, (message: Checked) => void>> = {
  events({ first, last, body }) {
    if (last < first || last - first >= MAX_EVENTS) throw refused(`1 to ${MAX_EVENTS} events`, `${first} to ${last}`)
    if (body.length === 0) throw refused('events in the body', 'no body')
  },
  part({ first, last, body }) {
    if (first !== last) throw refused('a part of one event', `${first} to ${last}`)
    if (body.length === 0) throw refused('bytes of an event', 'no body')
  },
  gap({ first, last, body }) {
    if (last < first) throw refused('lost events', `${first} to ${last}`)
    withoutBody(body)
  },
  owner: ofNoEvents,
  end: ofNoEvents,
}

function ofNoEvents({ first, last, body }: Checked): void {
  if (first !== last + 1) throw refused('no events', `${first} to ${last}`)
  withoutBody(body)
}

function withoutBody(body: Uint8Array): void {
  if (body.length > 0) throw refused('no body', `${body.length} bytes`)
}

/** Nothing is reserved by what a message claims: an event is collected from the bytes that really come. */
function partIn(all: MsgHdrs, body: Uint8Array): { offset: number; total: number } {
  const [, from = '', of = ''] = /^(\d{1,9})\/(\d{1,9})$/.exec(all.get(PART)) ?? []
  const offset = Number(from)
  const total = Number(of)
  if (of === '' || offset + body.length > total || total > MAX_EVENT_BYTES)
    throw refused(`bytes of an event of at most ${MAX_EVENT_BYTES}`, `${all.get(PART)} with ${body.length} bytes`)
  return { offset, total }
}

function numberIn(all: MsgHdrs, name: string, least: number): number {
  const text = all.get(name)
  const value = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(value) || value < least) throw refused(`a number from ${least} in ${name}`, text)
  return value
}

const refused = (expected: string, given: string): AgentprotoError =>
  new AgentprotoError('storage_corrupt', "A message in the fleet's log is not one of a gateway", { expected, given })
