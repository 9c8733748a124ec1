/** Lets many go on together: none before each of them has come, or has left. */
export class Gathering {
  #missing: number
  #open: () => void = () => {}
  readonly #opened = new Promise<void>((resolve) => (this.#open = resolve))

  constructor(size: number) {
    this.#missing = size
  }

  /** The place of one of them. */
  place(): Place {
    let isMissing = true
    return () => {
      if (isMissing && (this.#missing -= 1) === 0) this.#open()
      isMissing = false
      return this.#opened
    }
  }
}

/** Comes, or leaves. Resolves when the others have. Idempotent. */
export type Place = () => Promise<void>
