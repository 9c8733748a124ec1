import type { Outcome } from './call-frame.js'
import type { OpenCall, Respond } from './open-call.js'
import { PEER_BOUNDS, TOO_MANY_READERS } from './peer-bounds.js'
import type { OutcomeReader } from './run-method.js'

export interface PeerReadersOptions {
  readonly now: () => number
  readonly newCall: () => OpenCall
  readonly finish: (call: OpenCall, outcome: Outcome) => void
  readonly problemOf: (thrown: unknown) => Outcome
}

interface OpenReader {
  readonly reader: OutcomeReader
  readonly stop: AbortController
  /** The read that was asked for last. */
  call: OpenCall
  seq: number
  aliveAt: number
}

/** What one other host reads here, piece by piece. */
export class PeerReaders {
  readonly #options: PeerReadersOptions
  readonly #open = new Map<string, OpenReader>()

  constructor(options: PeerReadersOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#open.size
  }

  /** @returns what the call that opens it has as its outcome */
  open(id: string, reader: OutcomeReader, outcome: Outcome): Outcome {
    if (this.#open.size >= PEER_BOUNDS.readers) {
      reader.close()
      return TOO_MANY_READERS
    }
    const { newCall, now } = this.#options
    const call = newCall()
    // Before the first read nothing is asked for.
    call.finish(EMPTY)
    this.#open.set(id, { reader, stop: new AbortController(), call, seq: 0, aliveAt: now() })
    return outcome
  }

  next(id: string, seq: number, respond: Respond): void {
    const open = this.#open.get(id)
    if (open === undefined) return respond({ state: 'unknown' })
    const { newCall, now } = this.#options
    open.aliveAt = now()
    if (seq === open.seq) return open.call.answer(respond)
    if (seq !== open.seq + 1 || !open.call.isFinished) return respond({ state: 'unknown' })
    open.seq = seq
    open.call = newCall()
    open.call.answer(respond)
    void this.#read(open, open.call)
  }

  /** The read of this number; undefined when another one was asked for last. */
  callOf(id: string, seq: number): OpenCall | undefined {
    const open = this.#open.get(id)
    return open?.seq === seq ? open.call : undefined
  }

  /** The other host still reads these. */
  keep(ids: ReadonlySet<unknown>): void {
    const now = this.#options.now()
    for (const [id, open] of this.#open) if (ids.has(id)) open.aliveAt = now
  }

  /** Closes those that were not asked for since then. */
  sweep(before: number): void {
    for (const [id, { aliveAt }] of this.#open) if (aliveAt < before) this.close(id)
  }

  close(id: string): void {
    const open = this.#open.get(id)
    if (open === undefined) return
    this.#open.delete(id)
    open.call.drop()
    open.stop.abort()
    open.reader.close()
  }

  closeAll(): void {
    for (const id of this.#open.keys()) this.close(id)
  }

  async #read({ reader, stop }: OpenReader, call: OpenCall): Promise<void> {
    const { finish, problemOf } = this.#options
    try {
      finish(call, (await reader.next(stop.signal)) ?? { end: true })
    } catch (thrown) {
      finish(call, problemOf(thrown))
    }
  }
}

const EMPTY = Buffer.from('{}')
