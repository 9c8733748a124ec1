import { AgentprotoError } from '@agentproto/contracts'
import type { FailedResumes } from '../session/state.js'
import type { ResumeCall } from './resume.js'

/** After a failure another try waits this long, doubled each time, in milliseconds. */
const FIRST_WAIT_MS = 1_000
const MAX_WAIT_MS = 5 * 60_000

/** After so many failures in a row no prompt tries again. */
const MAX_TRIES = 10

/** @throws `not_resumable` while another try has to wait, and where a person has to look first */
export function assertResumeDue(
  { count, notBefore }: FailedResumes,
  { now, request }: { readonly now: number; readonly request: ResumeCall },
): void {
  const failed = `${count} resumes of the session failed in a row`
  if (request.isByPrompt === true && count >= MAX_TRIES) {
    throw new AgentprotoError('not_resumable', `${failed}, so prompts no longer resume it`, {
      hint: 'Read why in its failure. Then resume it, or begin a new conversation in it with {"fresh": true}',
    })
  }
  if (now >= notBefore) return
  throw new AgentprotoError('not_resumable', failed, {
    hint: `Try again in ${Math.ceil((notBefore - now) / 1_000)} s, or begin a new conversation with {"fresh": true}`,
    data: { retryAfterMs: notBefore - now },
  })
}

export const resumesAfter = ({ count }: FailedResumes, now: number): FailedResumes => ({
  count: count + 1,
  notBefore: now + Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** count),
})
