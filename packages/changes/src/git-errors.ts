import { AgentprotoError, isAgentprotoError, toAgentprotoError } from '@agentproto/contracts'
import type { SkipReason } from '@agentproto/contracts/agent'
import { GitFailure } from './git/git.js'

/** A state cannot be recorded, for a reason that a checkpoint reports as skipped. */
export class Skipped extends Error {
  readonly reason: SkipReason
  readonly detail: string

  constructor(reason: SkipReason, detail: string, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause })
    this.name = 'Skipped'
    this.reason = reason
    this.detail = detail
  }
}

/** Why no state was recorded. @throws what is not such a reason: an abort */
export function skipOf(thrown: unknown): Skipped {
  if (thrown instanceof Skipped) return thrown
  if (isAgentprotoError(thrown) && thrown.code === 'timeout') return new Skipped('time_limit', thrown.message, thrown)
  if (isAgentprotoError(thrown)) throw thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const isFull = FULL.test(message) || ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(codeOf(thrown) ?? '')
  return new Skipped(isFull ? 'disk_full' : 'git_failed', message, thrown)
}

/** What git says of a full disk, in the C locale. */
const FULL = /No space left on device|Disk quota exceeded|File too large/

/** For callers of what is not a checkpoint. */
export function asError(thrown: unknown): AgentprotoError {
  if (thrown instanceof Skipped)
    return new AgentprotoError('checkpoint_failed', `The files cannot be compared or recorded: ${thrown.detail}`, {
      data: { reason: thrown.reason },
      cause: thrown,
    })
  if (thrown instanceof GitFailure) return new AgentprotoError('git_failed', thrown.message, { cause: thrown })
  return toAgentprotoError(thrown)
}

export const codeOf = (thrown: unknown): string | undefined =>
  thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined
