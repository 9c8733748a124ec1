import {
  asList,
  type GapNotice,
  HOST_EVENT_CHECKS,
  isRecord,
  type SessionEvent,
  STREAM_EVENT_CHECKS,
} from '@agentproto/contracts'
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
    CHECKS[type](value) &&
    (type !== 'user-prompt' || asList(value['content']).every((block) => contentBlockSchema.safeParse(block).success))
  )
}

/** Whether an imported value is the notice that events are gone. */
export function isGapNotice(value: unknown): value is GapNotice {
  if (!isRecord(value) || value['type'] !== 'gap' || !isRecord(value['gap'])) return false
  const { after, first } = value['gap']
  return Number.isSafeInteger(after) && Number.isSafeInteger(first) && (first as number) > (after as number) + 1
}

/** In the format of the log, so that times compare as strings. */
const isTime = (value: unknown): boolean =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) &&
  !Number.isNaN(Date.parse(value))

const CHECKS = { ...STREAM_EVENT_CHECKS, ...HOST_EVENT_CHECKS }

const isType = (type: unknown): type is SessionEvent['type'] => typeof type === 'string' && Object.hasOwn(CHECKS, type)
