import type { Clock } from '@agentproto/contracts'

const WINDOW_MS = 60_000
/** Messages that are counted at the same time; beyond it the one whose window began first is forgotten. */
const MAX_MESSAGES = 500
const MAX_KEY_CHARS = 200

interface Window {
  readonly since: number
  count: number
}

/** How often a message was suppressed in one window. */
export interface Suppressed {
  readonly repeated: number
  readonly since: string
}

/** Limits how often the same message is written in a minute (F75), and counts what it suppresses. */
export class RepeatLimit {
  readonly #clock: Clock
  readonly #burst: number
  readonly #windows = new Map<string, Window>()

  /** @param burst How often a message may be written in one window */
  constructor(clock: Clock, burst: number) {
    this.#clock = clock
    this.#burst = burst
  }

  /** Whether the message may be written; at the start of a window, what the window before suppressed. */
  check(message: string): { readonly admitted: boolean; readonly suppressed?: Suppressed | undefined } {
    const key = message.slice(0, MAX_KEY_CHARS)
    const now = this.#clock.now()
    const window = this.#windows.get(key)
    if (window !== undefined && now - window.since < WINDOW_MS) return { admitted: ++window.count <= this.#burst }
    const suppressed = this.suppressed(key)
    // Deleted first, so that the map stays in the order of the windows.
    this.#windows.delete(key)
    this.#windows.set(key, { since: now, count: 1 })
    const [oldest] = this.#windows.keys()
    if (this.#windows.size > MAX_MESSAGES && oldest !== undefined) this.#windows.delete(oldest)
    return { admitted: true, suppressed }
  }

  /** What the current window of a message has suppressed so far. */
  suppressed(message: string): Suppressed | undefined {
    const window = this.#windows.get(message.slice(0, MAX_KEY_CHARS))
    if (window === undefined || window.count <= this.#burst) return undefined
    return { repeated: window.count - this.#burst, since: new Date(window.since).toISOString() }
  }
}
