/** Who may publish now: a bounded number of messages and bytes at once, first come, first served. */

export interface SlotLimits {
  readonly messages: number
  /** One larger message is let through alone. */
  readonly bytes: number
}

interface Waiter {
  readonly bytes: number
  readonly start: () => void
}

export class PublishSlots {
  readonly #limits: SlotLimits
  readonly #waiters: Waiter[] = []
  #messages = 0
  #bytes = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  /** Runs work that sends this many bytes, in its turn. A session waits for one at a time, so that all get theirs. */
  async run<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    await this.#enter(bytes)
    try {
      return await work()
    } finally {
      this.#messages -= 1
      this.#bytes -= bytes
      this.#startNext()
    }
  }

  #enter(bytes: number): Promise<void> {
    return new Promise((start) => {
      this.#waiters.push({ bytes, start })
      this.#startNext()
    })
  }

  #startNext(): void {
    for (let next = this.#waiters[0]; next !== undefined && this.#hasRoom(next.bytes); next = this.#waiters[0]) {
      this.#waiters.shift()
      this.#messages += 1
      this.#bytes += next.bytes
      next.start()
    }
  }

  #hasRoom(bytes: number): boolean {
    if (this.#messages === 0) return true
    return this.#messages < this.#limits.messages && this.#bytes + bytes <= this.#limits.bytes
  }
}
