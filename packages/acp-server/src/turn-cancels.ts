import type { Interrupted } from '@agentproto/contracts/wire'
import type { OwnTurns } from './own-turns.js'

type Interrupt = (which: { readonly turn?: number }) => Promise<Interrupted>

/** The cancels of a client in one session: each is for the prompts before it. */
export class TurnCancels {
  readonly #own: OwnTurns
  readonly #interrupt: Interrupt
  /** The cancel that is being sent, for the prompts so far. */
  #sending: Promise<void> | undefined
  /** Settles once the cancelled turns have ended. */
  #all: Promise<unknown> = Promise.resolve()

  constructor(own: OwnTurns, interrupt: Interrupt) {
    this.#own = own
    this.#interrupt = interrupt
  }

  /** What a new prompt waits for. The next cancel is another one. */
  beforePrompt(): Promise<unknown> {
    this.#sending = undefined
    return this.#all
  }

  /** Ends the client's own turns, running or queued; where it has none, the running turn. */
  cancel(): Promise<void> {
    // A client may repeat its cancel: it is the same as long as it is not done.
    if (this.#sending !== undefined) return this.#sending
    const sending = this.#send().finally(() => {
      if (this.#sending === sending) this.#sending = undefined
    })
    this.#sending = sending
    this.#all = Promise.allSettled([this.#all, sending])
    return sending
  }

  async #send(): Promise<void> {
    // Includes a prompt that is being sent and has no number yet.
    await this.#own.admitted()
    const { numbers } = this.#own
    if (numbers.length === 0) await this.#interrupt({})
    // The newest first, so that no queued turn starts.
    for (const turn of numbers.toReversed()) {
      const { sent } = await this.#interrupt({ turn })
      if (sent === false) this.#own.withdrawn(turn)
    }
  }
}
