import { AgentprotoError, type Clock } from '@agentproto/contracts'
import type { Waking } from './resume.js'

/** After a failure a further try waits this long, doubled each time, in milliseconds. */
const FIRST_WAIT_MS = 1_000
const MAX_WAIT_MS = 5 * 60_000

/** After so many that failed in a row no prompt tries again. */
const MAX_TRIES = 10

/** Counts the resumes of one session that failed in a row, so that a broken one is not started for ever (F37). */
export class ResumeBackoff {
  #failures = 0
  #notBefore = 0

  get failures(): number {
    return this.#failures
  }

  /** @throws `not_resumable` while a further try has to wait, and where a person has to look first */
  assertDue(now: number, { byPrompt = false }: Waking): void {
    if (byPrompt && this.#failures >= MAX_TRIES) throw givenUp(this.#failures)
    if (now >= this.#notBefore) return
    throw new AgentprotoError('not_resumable', `${this.#failures} resumes of the session failed in a row`, {
      hint: `Try again in ${Math.ceil((this.#notBefore - now) / 1_000)} s, or begin a new conversation with {"fresh": true}`,
      data: { retryAfterMs: this.#notBefore - now },
    })
  }

  /** Waits for one try and remembers how it ends. @throws what the try throws */
  async count(trying: Promise<void>, clock: Pick<Clock, 'now'>): Promise<void> {
    try {
      await trying
      this.#failures = 0
      this.#notBefore = 0
    } catch (error) {
      this.#notBefore = clock.now() + Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures)
      this.#failures += 1
      throw error
    }
  }
}

const givenUp = (failures: number): AgentprotoError =>
  new AgentprotoError(
    'not_resumable',
    `${failures} resumes of the session failed in a row, and no prompt tries again`,
    {
      hint: 'See why in its failure. Then resume it, or begin a new conversation in it with {"fresh": true}',
    },
  )
