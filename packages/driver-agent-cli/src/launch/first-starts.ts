import { unlessAborted } from './unless-aborted.js'

/**
 * Starts of agents whose manifest says `metadata.agentproto.first_start: alone`. Such an agent prepares its home when it
 * first runs (a database, a cache), and fails when two do so at once. Until one start has succeeded, starts come one
 * after the other; from then on all run side by side.
 */
export class FirstStarts {
  readonly #done = new Set<string>()
  /** By agent: settles, without a value, when the last start that has to be alone has ended. */
  readonly #last = new Map<string, Promise<unknown>>()

  /**
   * Runs a start alone while no start of this agent has succeeded.
   * @param agent id of its manifest
   * @throws `cancelled` if the signal aborts while it waits; as `start`, and then the next one tries
   */
  run<T>(agent: string, start: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#done.has(agent)) return start()
    const before = this.#last.get(agent) ?? Promise.resolve()
    const started = unlessAborted(before, signal).then(start)
    const ended = started.then(
      () => void this.#done.add(agent),
      () => {},
    )
    // Who stops waiting must not let the next one pass the start that still runs.
    this.#last.set(agent, Promise.all([before, ended]))
    return started
  }
}
