import { isRecord, SESSION_STATUSES } from '@agentproto/contracts'
import type { StoredSession } from '@agentproto/contracts/agent'

/**
 * Checks what the program relies on in a record read from a disk; other members are kept, so that
 * a newer version's fields survive an older one. Undefined for anything that is not a record.
 */
export function parseStoredSession(value: unknown): StoredSession | undefined {
  if (!isRecord(value) || value['version'] !== 1) return undefined
  const { session, turns, requests, spawn } = value
  if (!Array.isArray(turns) || !Array.isArray(requests)) return undefined
  return isRecord(spawn) && isRecord(session) && isSession(session) ? (value as unknown as StoredSession) : undefined
}

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
