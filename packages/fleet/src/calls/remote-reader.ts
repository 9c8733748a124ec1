import type { Reader } from '@agentproto/contracts/wire'
import type { Outcome } from './call-frame.js'

interface RemoteReaderOptions {
  /** Asks for the read with this number, from 1 on. */
  readonly read: (seq: number) => Promise<Outcome>
  readonly onClose: () => void
}

/** A reader at another host. The next item is asked for when it is read, so that a slow reader holds nothing. */
export class RemoteReader implements Reader<Outcome> {
  readonly #options: RemoteReaderOptions
  readonly #closed = new AbortController()
  /** The read that was asked for: it goes on when its waiter leaves, and the next waiter gets it. */
  #current: Promise<Outcome> | undefined
  #seq = 0

  constructor(options: RemoteReaderOptions) {
    this.#options = options
  }

  async next(signal?: AbortSignal): Promise<Outcome | undefined> {
    if (this.#closed.signal.aborted || signal?.aborted === true) return undefined
    const current = (this.#current ??= this.#read())
    const signals = signal === undefined ? [this.#closed.signal] : [this.#closed.signal, signal]
    try {
      const outcome = await unlessAborted(current, signals)
      if (outcome === undefined) return undefined
      this.#current = undefined
      if (!('end' in outcome)) return outcome
      this.close()
      return undefined
    } catch (thrown) {
      this.close()
      throw thrown
    }
  }

  close(): void {
    if (this.#closed.signal.aborted) return
    this.#closed.abort()
    this.#options.onClose()
  }

  #read(): Promise<Outcome> {
    this.#seq += 1
    const read = this.#options.read(this.#seq)
    // It may fail while there is no waiter; the next waiter gets the error.
    read.catch(() => undefined)
    return read
  }
}

/** undefined when a signal aborts first. */
async function unlessAborted<T>(work: Promise<T>, signals: readonly AbortSignal[]): Promise<T | undefined> {
  let leave: () => void = () => undefined
  const left = new Promise<undefined>((resolve) => (leave = () => resolve(undefined)))
  for (const signal of signals) signal.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([work, left])
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', leave)
  }
}
