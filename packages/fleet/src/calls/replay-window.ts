/** As many messages of one sender may overtake each other; NATS keeps the order of one connection. */
const WINDOW = 512

/**
 * Which numbered messages of one sender have arrived. A number is accepted once; one that is older than the window never is, so
 * that nothing is forgotten that could be replayed, and no memory grows.
 */
export class ReplayWindow {
  /** The last number that each place of the window was used for. */
  readonly #seen = new Float64Array(WINDOW)
  #highest = 0

  /** @param number From 1 on */
  accept(number: number): boolean {
    if (number <= this.#highest - WINDOW) return false
    const place = number % WINDOW
    if (this.#seen[place] === number) return false
    this.#seen[place] = number
    if (number > this.#highest) this.#highest = number
    return true
  }
}
