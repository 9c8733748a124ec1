import { AgentprotoError, BOUNDS, type ContentBlock, type QueuedTurn, type TraceContext } from '@agentproto/contracts'

/** Prompts that wait for their turn, in order; each has its turn's number from the moment it waits. */

export interface WaitingPrompt {
  readonly content: readonly ContentBlock[]
  /** ISO-8601. */
  readonly queuedAt: string
  readonly trace?: TraceContext | undefined
  /** It ended the turn that ran. */
  readonly interrupting: boolean
  /** What it waited for was stopped: it is never sent (failure mode 18). */
  readonly stopped: boolean
}

export class PromptQueue {
  #waiting: WaitingPrompt[] = []

  get length(): number {
    return this.#waiting.length
  }

  /**
   * The turn that a prompt waits for, by its number.
   * @param count number of the last turn that has begun
   * @param lastSeq of the session's events
   */
  turn(
    number: number,
    { count, lastSeq }: { readonly count: number; readonly lastSeq: number },
  ): QueuedTurn | undefined {
    const waiting = this.#waiting[number - count - 1]
    if (waiting === undefined) return undefined
    return { number, state: 'queued', queuedAt: waiting.queuedAt, prompt: waiting.content, afterSeq: lastSeq }
  }

  /** @throws `queue_full`; stopped prompts do not count, unless they too have piled up */
  add(prompt: Omit<WaitingPrompt, 'stopped'>): void {
    const waiting = this.#waiting.filter(({ stopped }) => !stopped).length
    if (waiting >= BOUNDS.queuedPrompts || this.#waiting.length >= 2 * BOUNDS.queuedPrompts) {
      throw new AgentprotoError('queue_full', `${BOUNDS.queuedPrompts} prompts wait already`, {
        hint: 'Wait for a turn to end',
      })
    }
    this.#waiting.push({ ...prompt, stopped: false })
  }

  take(): WaitingPrompt | undefined {
    return this.#waiting.shift()
  }

  /** The prompt could not be logged: it goes back to its place, and its number is told that it is never sent. */
  putBack(prompt: WaitingPrompt): void {
    this.#waiting.unshift({ ...prompt, stopped: true })
  }

  /** Stops one of them, by its place from 1 on. @returns whether it was to be sent until now */
  withdraw(place: number): boolean {
    const prompt = this.#waiting[place - 1]
    if (prompt === undefined || prompt.stopped) return false
    this.#waiting[place - 1] = { ...prompt, stopped: true }
    return true
  }

  stop(): void {
    this.#waiting = this.#waiting.map((prompt) => ({ ...prompt, stopped: true }))
  }
}
