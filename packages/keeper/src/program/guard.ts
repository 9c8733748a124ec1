import type { Clock, Timer } from '@agentproto/contracts'

/** What runs only as long as a gateway says again and again that it may. */
export interface Guarded {
  /** Of the agents, and of what they started. */
  readonly markers: ReadonlySet<string>
  /** From SIGTERM to SIGKILL, in milliseconds. */
  readonly graceMs: number
}

/** How often its time is compared, in milliseconds: timers stand still while the machine sleeps. */
const LOOK_MS = 1_000

const NOTHING: Guarded = { markers: new Set(), graceMs: 0 }

/** The last guard that a gateway has given, and its time. The next one takes its place. */
export class Guard {
  readonly #clock: Clock
  readonly #onExpired: (guarded: Guarded) => void
  #guarded = NOTHING
  #ms = 0
  #since = { wall: 0, monotonic: 0 }
  #isExpired = false
  #look: Timer | undefined

  constructor(clock: Clock, onExpired: (guarded: Guarded) => void) {
    this.#clock = clock
    this.#onExpired = onExpired
  }

  /** Whether its time runs. */
  get isArmed(): boolean {
    return this.#look !== undefined
  }

  /** @param ms From now on; what is not named is not guarded any more */
  renew(guarded: Guarded, ms: number): void {
    this.#look?.cancel()
    this.#look = undefined
    this.#guarded = guarded
    this.#ms = ms
    this.#since = { wall: this.#clock.now(), monotonic: performance.now() }
    this.#isExpired = false
    if (guarded.markers.size > 0) this.#lookLater()
  }

  isRenewedAfter(guarded: Guarded): boolean {
    return this.#guarded !== guarded
  }

  /** Whether what has this marker may not run. Compares the clocks at each question. */
  forbids(marker: string): boolean {
    if (this.isArmed && this.#leftMs <= 0) this.#expire()
    return this.#isExpired && this.#guarded.markers.has(marker)
  }

  /** By the clock that says less: one stands still while the machine sleeps, the other can be set back. */
  get #leftMs(): number {
    const { wall, monotonic } = this.#since
    return this.#ms - Math.max(this.#clock.now() - wall, performance.now() - monotonic)
  }

  #lookLater(): void {
    this.#look = this.#clock.after(Math.min(LOOK_MS, Math.max(0, this.#leftMs)), () => {
      if (this.#leftMs > 0) this.#lookLater()
      else this.#expire()
    })
  }

  #expire(): void {
    this.#look?.cancel()
    this.#look = undefined
    this.#isExpired = true
    this.#onExpired(this.#guarded)
  }
}
