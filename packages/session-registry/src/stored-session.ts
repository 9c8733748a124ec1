import { SESSION_STATUSES, type StoredSession } from '@agentproto/contracts'

/**
 * Checks what the program relies on in a record read from a disk; the rest is carried as it is, so that a
 * newer version's fields survive an older one. Undefined for anything that is no record.
 */
export function parseStoredSession(value: unknown): StoredSession | undefined {
  if (!isObject(value) || value['version'] !== 1) return undefined
  const { session, turns, requests, spawn } = value
  if (!isObject(session) || !isObject(session['turn']) || !isObject(spawn)) return undefined
  if (!Array.isArray(turns) || !Array.isArray(requests) || !Array.isArray(session['warnings'])) return undefined
  const texts = ['id', 'adapterSlug', 'workspaceSlug', 'cwd', 'startedAt', 'permissionMode', 'lastActiveAt']
  if (!texts.every((key) => typeof session[key] === 'string')) return undefined
  if (!SESSION_STATUSES.some((status) => status === session['status'])) return undefined
  if (!Number.isSafeInteger(session['turnCount']) || !Number.isSafeInteger(session['lastSeq'])) return undefined
  return value as unknown as StoredSession
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
