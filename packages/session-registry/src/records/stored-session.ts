import { asRecord, defined, isRecord, type Json, SESSION_STATUSES } from '@agentproto/contracts'
import type { StoredSession } from '@agentproto/contracts/agent'
import { budgetSchema } from '@agentproto/contracts/wire'

/**
 * Checks what the program relies on in a record read from a disk; other members are kept, so that
 * a newer version's fields survive an older one. Undefined for anything that is not a record.
 */
export function parseStoredSession(value: unknown): StoredSession | undefined {
  if (!isRecord(value) || value['version'] !== 1) return undefined
  const { session, turns, requests, spawn, meter, kept, ...rest } = value
  if (!Array.isArray(turns) || !Array.isArray(requests)) return undefined
  if (!isRecord(spawn) || !isRecord(session) || !isSession(session)) return undefined
  // A budget that cannot be read must not become none.
  if (spawn['budget'] !== undefined && !budgetSchema.safeParse(spawn['budget']).success) return undefined
  const record = {
    ...rest,
    session,
    turns,
    requests,
    spawn: withReadableDigests(spawn),
    ...(isMeter(meter) && { meter }),
    ...(isKept(kept) && { kept }),
  }
  return record as unknown as StoredSession
}

/** Without one, what the session used is counted from its next event on. */
function isMeter(value: unknown): value is Json {
  const { seq, countedSeq, usage, reported, pending, turn, elsewhere = 0 } = asRecord(value)
  const { turns, unreported, withoutTokens, withoutCost, busyMs, cost = [] } = asRecord(usage)
  const counts = [seq, countedSeq, elsewhere, turns, unreported, withoutTokens, withoutCost, busyMs]
  const costs = [reported, pending, cost]
  return counts.every(isCount) && costs.every(isCost) && (turn === undefined || isMeteredTurn(asRecord(turn)))
}

/** Without it the agent is not taken over. */
function isKept(value: unknown): value is Json {
  const { queue, context } = asRecord(value)
  return Array.isArray(queue) && queue.every(isPrompt) && isRecord(context) && isText(context['transcript'] ?? '')
}

function isPrompt(value: unknown): boolean {
  const { content, queuedAt, isInterrupting, isStopped, idempotency } = asRecord(value)
  const flags = [isInterrupting, isStopped]
  return (
    Array.isArray(content) &&
    content.every(isRecord) &&
    isText(queuedAt) &&
    flags.every(isFlag) &&
    isDigests(idempotency)
  )
}

/** Without them a repeat of the start is another start. */
function withReadableDigests({ idempotency, ...spawn }: Json): Json {
  return isDigests(idempotency) ? { ...spawn, ...defined({ idempotency }) } : spawn
}

function isDigests(value: unknown): boolean {
  const { key, request } = asRecord(value)
  return value === undefined || (isText(key) && isText(request))
}

const isFlag = (value: unknown): boolean => typeof value === 'boolean'

const isCount = (value: unknown): boolean => typeof value === 'number' && value >= 0

const isCost = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each) => isCount(asRecord(each)['amount']) && isText(asRecord(each)['currency']))

const isText = (value: unknown): boolean => typeof value === 'string'

const isMeteredTurn = ({ busyMs, requests, busySince, waitingSince }: Json): boolean =>
  [busyMs, requests, busySince ?? 0, waitingSince ?? 0].every(isCount)

function isSession(session: Record<string, unknown>): boolean {
  return (
    TEXTS.every((key) => typeof session[key] === 'string') &&
    COUNTS.every((key) => Number.isSafeInteger(session[key])) &&
    SESSION_STATUSES.some((status) => status === session['status']) &&
    Array.isArray(session['warnings']) &&
    isRecord(session['turn'])
  )
}

const TEXTS = ['id', 'adapterSlug', 'workspaceSlug', 'cwd', 'startedAt', 'permissionMode', 'lastActiveAt']
const COUNTS = ['turnCount', 'lastSeq']

/** Oldest first. */
export const byStart = ({ session: a }: StoredSession, { session: b }: StoredSession): number =>
  a.startedAt < b.startedAt ? -1 : a.startedAt > b.startedAt ? 1 : 0
