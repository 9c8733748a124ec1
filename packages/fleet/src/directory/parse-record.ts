import { isRecord, SESSION_STATES, SESSION_STATUSES, type Session } from '@agentproto/contracts'
import type { HostEviction, HostRecord, SessionRecord } from './directory-records.js'

// Another client of the account can write to the buckets. What is not a record is not one: undefined.

/** A record is a few kilobytes. */
export const MAX_RECORD_BYTES = 256 * 1024

/** @param host The key in the bucket, which the record must name. */
export function parseHost(host: string, bytes: Uint8Array): HostRecord | HostEviction | undefined {
  const value = parse(bytes)
  if (value === undefined || value['host'] !== host) return undefined
  return isHost(value) || isEviction(value) ? value : undefined
}

/** @param id The key in the bucket, which the record must name. */
export function parseSession(id: string, bytes: Uint8Array): SessionRecord | undefined {
  const value = parse(bytes)
  return value !== undefined && isSessionRecord(value) && value.session.id === id ? value : undefined
}

function parse(bytes: Uint8Array): Record<string, unknown> | undefined {
  if (bytes.length > MAX_RECORD_BYTES) return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

type Unknown = Record<string, unknown>

const isHost = (value: Unknown): value is Unknown & HostRecord =>
  ['version', 'run', 'term'].every((key) => isName(value[key])) &&
  isRecord(value['labels']) &&
  Object.values(value['labels']).every(isText) &&
  ['liveSessions', 'freeSessions', 'lag'].every((key) => isCount(value[key])) &&
  (value['sentAt'] === undefined || isCount(value['sentAt'])) &&
  isTexts(value['adapters']) &&
  isTexts(value['workspaces'])

const isEviction = (value: Unknown): value is Unknown & HostEviction =>
  isName(value['evictedBy']) && typeof value['lapsed'] === 'boolean'

const isSessionRecord = (value: Unknown): value is Unknown & SessionRecord =>
  isName(value['owner']) &&
  isName(value['term']) &&
  isCount(value['epoch']) &&
  value['epoch'] > 0 &&
  (value['settings'] === undefined || isRecord(value['settings'])) &&
  (value['complete'] === undefined || isCount(value['complete'])) &&
  isSession(value['session'])

const isSession = (value: unknown): value is Session =>
  isRecord(value) &&
  ['id', 'adapterSlug', 'workspaceSlug', 'cwd', 'hostId', 'startedAt', 'lastActiveAt', 'permissionMode'].every((key) =>
    isText(value[key]),
  ) &&
  ['turnCount', 'lastSeq', 'pendingRequests'].every((key) => isCount(value[key])) &&
  SESSION_STATUSES.some((status) => status === value['status']) &&
  SESSION_STATES.some((state) => state === value['state']) &&
  ['parentSessionId', 'rootSessionId', 'label', 'title'].every(
    (key) => value[key] === undefined || isText(value[key]),
  ) &&
  (value['onHostLoss'] === undefined || value['onHostLoss'] === 'move') &&
  isTexts(value['warnings']) &&
  isRecord(value['turn'])

const isText = (value: unknown): value is string => typeof value === 'string'
const isName = (value: unknown): value is string => isText(value) && value.length > 0 && value.length <= 256
const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
