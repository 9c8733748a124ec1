import { AgentprotoError, isLive, type Session, type SessionOrigin } from '@agentproto/contracts'

/** How a session that has ended is taken up again. Nothing is guessed: a new conversation has to be asked for. */

export interface Resumption {
  readonly origin: SessionOrigin
  readonly how: NonNullable<Session['resumedHow']>
}

/** @throws `session_live`, `not_resumable` */
export function resumptionOf(session: Session, fresh: boolean): Resumption {
  if (isLive(session)) throw new AgentprotoError('session_live', 'The session has not ended', { given: session.status })
  if (fresh) return { origin: { how: 'new' }, how: 'fresh' }
  const { agentSessionId, agent, resumable } = session
  if (!resumable || agentSessionId === undefined || agent === undefined) throw notResumable(session)
  // What `resume` takes up it does not replay, so it is preferred where the agent has both.
  const how = agent.capabilities.resume ? 'resume' : 'load'
  return { origin: { how, agentSessionId }, how }
}

/** After a failure a further try waits this long, doubled each time, in milliseconds. */
const FIRST_WAIT_MS = 1_000
const MAX_WAIT_MS = 5 * 60_000

/** Counts the resumes of one session that failed in a row, so that a broken one is not started for ever (F37). */
export class ResumeBackoff {
  #failures = 0
  #notBefore = 0

  get failures(): number {
    return this.#failures
  }

  /** @throws `not_resumable` while a further try has to wait */
  assertDue(now: number): void {
    if (now >= this.#notBefore) return
    throw new AgentprotoError('not_resumable', `${this.#failures} resumes of the session failed in a row`, {
      hint: `Try again in ${Math.ceil((this.#notBefore - now) / 1_000)} s, or begin a new conversation with {"fresh": true}`,
      data: { retryAfterMs: this.#notBefore - now },
    })
  }

  failed(now: number): void {
    this.#notBefore = now + Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures)
    this.#failures += 1
  }

  succeeded(): void {
    this.#failures = 0
    this.#notBefore = 0
  }
}

const notResumable = ({ status, agentSessionId }: Session): AgentprotoError =>
  new AgentprotoError('not_resumable', `The session has ended (${status}) and cannot be taken up again`, {
    expected: 'an adapter whose sessions are resumable, and an agent that can load or resume',
    ...(agentSessionId === undefined ? { given: 'a session that its agent never opened' } : {}),
    hint: 'Begin a new conversation in it with {"fresh": true}, or start a new session',
  })
