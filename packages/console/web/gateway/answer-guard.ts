/** A person does not read faster than this, in milliseconds. */
const READING_MS = 300

/**
 * Separates an answer to what is shown from a press that was meant for something else: nothing counts for a moment after a
 * question appeared, or after the questions moved below the pointer. One for all questions of a page.
 */
export class AnswerGuard {
  #changedAt = Infinity

  /** Something else is shown from now on. @param now in milliseconds */
  restart(now: number): void {
    this.#changedAt = now
  }

  /** Whether a press at `now` can be an answer. */
  isReady(now: number): boolean {
    return now - this.#changedAt >= READING_MS
  }
}
