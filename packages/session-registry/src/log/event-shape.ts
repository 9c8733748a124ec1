import { type GapNotice, isRecord, SESSION_STATUSES, type SessionEvent } from '@agentproto/contracts'
import { contentBlockSchema } from '@agentproto/contracts/wire'

/**
 * Whether an imported value is an event: checks its envelope, and of its payload what readers of logs rely on. Other members
 * are kept as they are.
 */
export function isEvent(value: unknown): value is SessionEvent {
  if (!isRecord(value)) return false
  const { seq, ts, turn, type } = value
  return (
    Number.isSafeInteger(seq) &&
    isTime(ts) &&
    (turn === undefined || (Number.isSafeInteger(turn) && (turn as number) > 0)) &&
    isType(type) &&
    PAYLOADS[type](value)
  )
}

/** Whether an imported value is the notice that events are gone. */
export function isGapNotice(value: unknown): value is GapNotice {
  if (!isRecord(value) || value['type'] !== 'gap' || !isRecord(value['gap'])) return false
  const { after, first } = value['gap']
  return Number.isSafeInteger(after) && Number.isSafeInteger(first) && (first as number) > (after as number) + 1
}

type Payload = Readonly<Record<string, unknown>>
type Check = (payload: Payload) => boolean

/** In the format of the log, so that times compare as strings. */
const isTime = (value: unknown): boolean =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) &&
  !Number.isNaN(Date.parse(value))

const texts =
  (...keys: readonly string[]): Check =>
  (payload) =>
    keys.every((key) => typeof payload[key] === 'string')
const statuses: ReadonlySet<unknown> = new Set(SESSION_STATUSES)
const isTool: Check = (payload) =>
  typeof payload['toolCallId'] === 'string' &&
  ['title', 'toolName', 'kind', 'status'].every((key) => ['string', 'undefined'].includes(typeof payload[key]))

/** Readers of logs rely on none of its members. */
const ANY: Check = () => true

/** Every type has a check, so that a new one cannot be read unchecked. */
const PAYLOADS: Readonly<Record<SessionEvent['type'], Check>> = {
  'text-delta': texts('text'),
  thought: texts('text'),
  notice: texts('text'),
  output: texts('text', 'stream'),
  error: texts('message'),
  title: texts('title'),
  repair: texts('detail'),
  'runtime-warning': texts('message'),
  'turn-end': texts('reason'),
  'tool-call': isTool,
  'tool-result': (payload) => isTool(payload) && typeof payload['status'] === 'string',
  'agent-prompt': ({ requestId, request }) => typeof requestId === 'string' && isRecord(request) && isRequest(request),
  'agent-prompt-resolved': ({ requestId, answer }) => typeof requestId === 'string' && isRecord(answer),
  'user-prompt': ({ content }) =>
    Array.isArray(content) && content.every((block) => contentBlockSchema.safeParse(block).success),
  plan: ({ entries }) => Array.isArray(entries) && entries.every((entry) => isRecord(entry) && texts('content')(entry)),
  config: ({ config }) => isRecord(config),
  status: ({ status }) => statuses.has(status),
  usage: ANY,
  extension: ANY,
  'runtime-progress': ANY,
  'session-stopped': ({ status, stopReason, failure }) =>
    statuses.has(status) &&
    typeof stopReason === 'string' &&
    (failure === undefined || (isRecord(failure) && texts('kind', 'summary')(failure))),
}

const isType = (type: unknown): type is SessionEvent['type'] =>
  typeof type === 'string' && Object.hasOwn(PAYLOADS, type)

const isRequest: Check = ({ kind, message, toolCall }) =>
  kind === 'permission' ? isRecord(toolCall) && isTool(toolCall) : typeof message === 'string'
