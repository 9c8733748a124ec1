import type { Clock, Timer } from '@agentproto/contracts'
import { AGENT_BOUNDS } from '../agent-bounds.js'

export interface HeartbeatOptions {
  readonly clock: Clock
  readonly socket: { ping(): void; readonly isPaused: boolean }
  readonly onSilent: (why: string) => void
}

/** Whether the other end of a connection lives: TCP does not notice a host that is gone. */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  #timer: Timer
  /** Something was received since the timer began. */
  #isHeard = false

  constructor(options: HeartbeatOptions) {
    this.#options = options
    this.#timer = this.#rest()
  }

  /** Something was received. */
  alive(): void {
    this.#isHeard = true
  }

  stop(): void {
    this.#timer.cancel()
  }

  #rest(): Timer {
    this.#isHeard = false
    return this.#options.clock.after(
      AGENT_BOUNDS.pingMs,
      () => (this.#timer = this.#isQuiet ? this.#ask() : this.#rest()),
    )
  }

  /** Nothing is read of a paused connection, an answer neither. */
  get #isQuiet(): boolean {
    return !this.#isHeard && !this.#options.socket.isPaused
  }

  #ask(): Timer {
    const { clock, socket, onSilent } = this.#options
    socket.ping()
    return clock.after(AGENT_BOUNDS.pongMs, () => {
      if (this.#isQuiet) onSilent(`it did not answer a ping within ${AGENT_BOUNDS.pongMs / 1_000} s`)
      else this.#timer = this.#rest()
    })
  }
}
