import type { Clock, Timer } from '@agentproto/contracts'
import type { AcpLimits } from './acp-endpoint.js'

/** Characters that are handed out at once. */
const CHUNK_CHARS = 64 * 1_024

interface Options {
  readonly clock: Clock
  readonly limits: Pick<AcpLimits, 'outputBytes' | 'stallMs' | 'keptChars'>
  /** The client takes nothing of what waits for it. */
  readonly onStalled: () => void
}

/**
 * The messages for a client as events with numbers. Those that wait are bounded by back-pressure; of those that were handed out
 * the last ones are kept, so that the next stream begins where the one before was cut.
 */
export class NumberedOutput {
  readonly #options: Options
  /** Those that are kept and those that wait, one after the other. */
  #messages: string[] = []
  /** Number of the first of them. */
  #first = 1
  /** Number of the next that is handed out. */
  #next = 1
  #kept = 0
  #waiting = 0
  #isClosed = false
  #wake: (() => void) | undefined
  #full: Promise<void> | undefined
  #release: () => void = () => undefined
  #stall: Timer | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /** @returns a promise while the client does not keep up */
  send(text: string): Promise<void> | undefined {
    if (this.#isClosed) return undefined
    this.#messages.push(text)
    this.#waiting += text.length
    this.#wake?.()
    if (this.#full !== undefined || this.#waiting < this.#options.limits.outputBytes) return this.#full
    this.#full = new Promise((resolve) => (this.#release = resolve))
    this.#watch()
    return this.#full
  }

  /**
   * Begins after the last event that the client has.
   * @returns false if what followed it is not kept any more
   */
  continueAfter(last: number): boolean {
    const next = last + 1
    if (!Number.isSafeInteger(last) || next < this.#first || next > this.#first + this.#messages.length) return false
    const again = this.#charsOf(next, this.#next) - this.#charsOf(this.#next, next)
    this.#kept -= again
    this.#waiting += again
    this.#next = next
    return true
  }

  /** Resolves when something waits; at the end, or when `signal` aborts, with false. */
  async ready(signal: AbortSignal): Promise<boolean> {
    while (!this.#isClosed && !signal.aborted && !this.#hasMore) await this.#more(signal)
    return !this.#isClosed && !signal.aborted
  }

  /** A part of what waits, as events. */
  take(): string {
    let events = ''
    while (this.#hasMore && events.length < CHUNK_CHARS) events += this.#event()
    this.#forget()
    this.#taken()
    return events
  }

  /** Drops what waits, and lets all who wait go on. Idempotent. */
  close(): void {
    this.#isClosed = true
    this.#messages = []
    this.#stall?.cancel()
    this.#release()
    this.#wake?.()
  }

  #charsOf(from: number, to: number): number {
    const messages = this.#messages.slice(from - this.#first, Math.max(from, to) - this.#first)
    return messages.reduce((sum, { length }) => sum + length, 0)
  }

  get #hasMore(): boolean {
    return this.#next < this.#first + this.#messages.length
  }

  #event(): string {
    const text = this.#messages[this.#next - this.#first] as string
    this.#waiting -= text.length
    this.#kept += text.length
    return `id: ${this.#next++}\ndata: ${text}\n\n`
  }

  #forget(): void {
    let count = 0
    while (this.#kept > this.#options.limits.keptChars && this.#first + count < this.#next)
      this.#kept -= this.#messages[count++]?.length ?? 0
    if (count === 0) return
    this.#messages = this.#messages.slice(count)
    this.#first += count
  }

  #taken(): void {
    this.#stall?.cancel()
    if (this.#full === undefined) return
    if (this.#waiting >= this.#options.limits.outputBytes) return this.#watch()
    this.#full = undefined
    this.#release()
  }

  #watch(): void {
    const { clock, limits, onStalled } = this.#options
    this.#stall = clock.after(limits.stallMs, onStalled)
  }

  #more(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake)
        this.#wake = undefined
        resolve()
      }
      this.#wake = wake
      signal.addEventListener('abort', wake, { once: true })
    })
  }
}
