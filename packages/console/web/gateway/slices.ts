/** A person notices no pause of this length, in milliseconds; the rest of a frame is for the screen. */
const SLICE_MS = 8

/** Divides long work, so that the page answers to presses and draws in between. */
export class Slices {
  #beganAt = performance.now()

  /** Lets the page do its other work when this work has taken its time. */
  async pause(): Promise<void> {
    if (performance.now() - this.#beganAt < SLICE_MS) return
    // A timer, since it also comes in a tab that is not shown, where no frame is drawn.
    await new Promise((resolve) => setTimeout(resolve))
    this.#beganAt = performance.now()
  }
}
