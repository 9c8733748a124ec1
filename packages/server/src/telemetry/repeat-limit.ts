import type { Clock } from '@agentproto/contracts'

/** How often one message may be written within one window. */
const BURST = 20
const WINDOW_MS = 60_000
/** Messages that are counted at the same time; beyond it the one that was written longest ago is forgotten. */
const MAX_MESSAGES = 500
const MAX_KEY_CHARS = 200

interface Window {
  readonly since: number
  count: number
}

interface Verdict {
  readonly admitted: boolean
  /** What the window before suppressed, when a new one begins. */
  readonly suppressed?: { readonly repeated: number; readonly since: string }
}

/** Limits how often the same message is written (F75), and counts what it suppresses. */
export class RepeatLimit {
  readonly #clock: Clock
  readonly #windows = new Map<string, Window>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  check(message: string): Verdict {
    const key = message.slice(0, MAX_KEY_CHARS)
    const now = this.#clock.now()
    const window = this.#windows.get(key)
    if (window !== undefined && now - window.since < WINDOW_MS) return { admitted: ++window.count <= BURST }
    // Deleted first, so that the map stays in the order of the last window.
    this.#windows.delete(key)
    this.#windows.set(key, { since: now, count: 1 })
    const [oldest] = this.#windows.keys()
    if (this.#windows.size > MAX_MESSAGES && oldest !== undefined) this.#windows.delete(oldest)
    if (window === undefined || window.count <= BURST) return { admitted: true }
    const since = new Date(window.since).toISOString()
    return { admitted: true, suppressed: { repeated: window.count - BURST, since } }
  }
}
