import { AgentprotoError, MAX_FAILED_RESUMES, type Session } from '@agentproto/contracts'
import type { SessionState } from '../session/state.js'
import type { ResumeCall } from './resume.js'

/** After a failure another try waits this long, doubled each time, in milliseconds. */
const FIRST_WAIT_MS = 1_000
const MAX_WAIT_MS = 5 * 60_000

/** @throws `not_resumable` while another try has to wait, and where a person has to look first */
export function assertResumeDue(
  { session, resumeAt }: Pick<SessionState, 'session' | 'resumeAt'>,
  { now, request }: { readonly now: number; readonly request: ResumeCall },
): void {
  if (request.isByPrompt === true && isGivenUp(session)) throw givenUpError(session)
  if (now >= resumeAt) return
  throw new AgentprotoError('not_resumable', failedInARow(session), {
    hint: `Try again in ${Math.ceil((resumeAt - now) / 1_000)} s, or begin a new conversation with {"fresh": true}`,
    data: { retryAfterMs: resumeAt - now },
  })
}

/** One more resume has failed. */
export function withFailedResume(state: SessionState, now: number): SessionState {
  const { failedResumes = 0 } = state.session
  return {
    ...state,
    session: { ...state.session, failedResumes: failedResumes + 1 },
    resumeAt: now + Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** failedResumes),
  }
}

/** A person has to look first. */
export const isGivenUp = ({ failedResumes = 0 }: Session): boolean => failedResumes >= MAX_FAILED_RESUMES

export const givenUpError = (session: Session): AgentprotoError =>
  new AgentprotoError('not_resumable', `${failedInARow(session)}, so prompts no longer resume it`, {
    hint: 'Read why in its failure. Then resume it, or begin a new conversation in it with {"fresh": true}',
  })

const failedInARow = ({ failedResumes = 0 }: Session): string =>
  `${failedResumes} resumes of the session failed in a row`
