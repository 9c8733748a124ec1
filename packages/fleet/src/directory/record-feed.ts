import type { Reader } from '@agentproto/contracts/wire'

/** Ids of sessions whose record changed. A slow reader gets each id once, however often it changed. */
export class RecordFeed {
  readonly #readers = new Set<ChangedIds>()
  #isClosed = false

  /** From now on. */
  read(): Reader<readonly string[]> {
    const reader = new ChangedIds(() => this.#readers.delete(reader))
    if (this.#isClosed) reader.close()
    else this.#readers.add(reader)
    return reader
  }

  changed(id: string): void {
    for (const reader of this.#readers) reader.put(id)
  }

  close(): void {
    this.#isClosed = true
    for (const reader of this.#readers) reader.close()
  }
}

class ChangedIds implements Reader<readonly string[]> {
  readonly #onClose: () => void
  #pending = new Set<string>()
  #wake: (() => void) | undefined
  #isClosed = false

  constructor(onClose: () => void) {
    this.#onClose = onClose
  }

  /** It grows to the number of sessions in the copy, which has a bound. */
  put(id: string): void {
    this.#pending.add(id)
    this.#wake?.()
  }

  async next(signal?: AbortSignal): Promise<readonly string[] | undefined> {
    while (this.#pending.size === 0 && !this.#isClosed) {
      signal?.throwIfAborted()
      await this.#woken(signal)
    }
    if (this.#pending.size === 0) return undefined
    const ids = [...this.#pending]
    this.#pending = new Set()
    return ids
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#onClose()
    this.#wake?.()
  }

  #woken(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        signal?.removeEventListener('abort', done)
        this.#wake = undefined
        resolve()
      }
      this.#wake = done
      signal?.addEventListener('abort', done, { once: true })
    })
  }
}
