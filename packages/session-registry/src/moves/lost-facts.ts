import { AgentprotoError, defined, NO_WORKSPACE } from '@agentproto/contracts'
import type { LostSession, MovedSettings } from '@agentproto/contracts/agent'
import { type LostRecord, lostSessionSchema, movedSettingsSchema, parseWire } from '@agentproto/contracts/wire'
import { assertSessionId } from '../records/session-id.js'

/** What is used of a session that another host had. */
export interface LostFacts extends LostRecord {
  /** The host that is lost. */
  readonly from: string
  /** Numbers up to this one are used. */
  readonly reservedSeq: number
  readonly settings?: MovedSettings | undefined
}

/** @throws `invalid_request` where it cannot be read or cannot be moved; `session_not_found` for an id that is none */
export function lostFacts({ session, settings, from, lastSeq = 0 }: LostSession): LostFacts {
  const record = parseWire(lostSessionSchema, session, 'session')
  assertSessionId(record.id)
  const reason = obstacle(record)
  if (reason !== undefined)
    throw new AgentprotoError('invalid_request', `The session cannot be taken over: ${reason}`, { given: record.id })
  return {
    ...record,
    reservedSeq: Math.max(record.lastSeq, lastSeq),
    from: nameOf(from),
    settings: settings === undefined ? undefined : settingsIn(settings),
  }
}

/** @throws `invalid_request` */
function settingsIn(given: unknown): MovedSettings {
  const { loops, budget, ...settings } = parseWire(movedSettingsSchema, given, 'settings')
  return defined({ ...settings, loops: loops && defined(loops), budget: budget && defined(budget) })
}

function obstacle({ onHostLoss, parentSessionId, imported, workspaceSlug }: LostRecord): string | undefined {
  if (onHostLoss !== 'move') return 'its policy is to wait for its host'
  if (parentSessionId !== undefined) return 'it was started by an agent, and belongs to the session of that agent'
  if (imported !== undefined) return 'it was imported, and never runs'
  return workspaceSlug === NO_WORKSPACE ? 'it is in no workspace' : undefined
}

/** A name of a host is shown to people. */
const nameOf = (from: string): string => from.replaceAll(/[^\w.-]/g, '').slice(0, 80) || 'another host'
