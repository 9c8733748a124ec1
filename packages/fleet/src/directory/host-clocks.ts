/** Clocks that differ by more are reported, in milliseconds. Calls between hosts fail from 30 s on. */
const MAX_DIFFERENCE_MS = 10_000
/** So many in a row: one heartbeat can be late by as long as a server was frozen. */
const SAMPLES = 3
/** As many as the copy of the hosts has. */
const MAX_HOSTS = 5_000

/**
 * The clocks of the hosts, each compared with that of the server that stores its heartbeats, so that it does not matter when they
 * are read here.
 */
export class HostClocks {
  readonly #self: string
  readonly #onProblem: (problem: string) => void
  /** By how much the clock of each host was ahead of that of the server, less the way of the heartbeat. */
  readonly #samples = new Map<string, readonly number[]>()
  readonly #reported = new Set<string>()

  /** @param self The name of this host */
  constructor(self: string, onProblem: (problem: string) => void) {
    this.#self = self
    this.#onProblem = onProblem
  }

  /** A heartbeat that was sent at `sentAt` by the clock of its host was stored at `storedAt` by that of the server. */
  heard(host: string, sentAt: number, storedAt: number): void {
    const samples = this.#samples.get(host) ?? []
    if (samples.length === 0 && this.#samples.size >= MAX_HOSTS) return
    this.#samples.set(host, [...samples, sentAt - storedAt].slice(-SAMPLES))
    if (host === this.#self) this.#compare(host, this.ownAheadMs)
    // A wrong clock of this host differs from all others: that is one problem, and not one for each of them.
    else if (!this.#reported.has(this.#self)) this.#compare(host, this.aheadMs(host))
  }

  /** By how many milliseconds the clock of another host is ahead of that of this host; negative when it is behind. */
  aheadMs(host: string): number | undefined {
    const [theirs, own] = [this.#aheadOfServer(host), this.ownAheadMs]
    return host === this.#self || theirs === undefined || own === undefined ? undefined : theirs - own
  }

  /** By how many milliseconds the clock of this host is ahead of that of the NATS server. */
  get ownAheadMs(): number | undefined {
    return this.#aheadOfServer(this.#self)
  }

  forget(host: string): void {
    this.#samples.delete(host)
    this.#reported.delete(host)
  }

  /** The heartbeat with the shortest way counts. Undefined until enough was heard. */
  #aheadOfServer(host: string): number | undefined {
    const samples = this.#samples.get(host) ?? []
    return samples.length < SAMPLES ? undefined : Math.max(...samples)
  }

  /** Reports a difference once, until the clocks agree again. */
  #compare(host: string, aheadMs = 0): void {
    if (Math.abs(aheadMs) <= MAX_DIFFERENCE_MS) return void this.#reported.delete(host)
    if (this.#reported.has(host)) return
    this.#reported.add(host)
    if (host === this.#self) this.#report(aheadMs, 'this host', 'the NATS server')
    else this.#report(aheadMs, `the host ${host}`, 'this host')
  }

  #report(aheadMs: number, which: string, other: string): void {
    const seconds = Math.round(Math.abs(aheadMs) / 1_000)
    this.#onProblem(
      `The clock of ${which} is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} that of ${other}. Set both by NTP: calls ` +
        'between hosts are refused when their clocks differ by more than 30 s.',
    )
  }
}
