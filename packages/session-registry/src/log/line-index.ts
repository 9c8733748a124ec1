import type { EventRecord } from '@agentproto/contracts/agent'

/**
 * Where lines of a log begin: a sparse table that grows with what is written or read, and the ends of the
 * latest reads, so that a reader that goes on from its cursor seeks once.
 */

export interface LinePosition {
  readonly seq: number
  readonly offset: number
}

const STRIDE = 1_024
const MAX_HINTS = 128
const START: LinePosition = { seq: 1, offset: 0 }

export class LineIndex {
  /** Ascending in both; holds a position about each STRIDE lines. */
  readonly #table: LinePosition[] = [START]
  readonly #hints = new Map<number, number>()
  /** The first line that the table wants next. */
  nextSeq = 1 + STRIDE

  /** Line `seq`, which is not before {@link nextSeq}, begins at `offset`. */
  add(seq: number, offset: number): void {
    this.#table.push({ seq, offset })
    this.nextSeq = seq + STRIDE
  }

  /** The records were read, and the line after them begins at `next`. */
  hint(records: readonly EventRecord[], next: number): void {
    const last = records.at(-1)
    if (last === undefined) return
    if (last.seq + 1 >= this.nextSeq) this.add(last.seq + 1, next)
    this.#hints.set(last.seq + 1, next)
    if (this.#hints.size > MAX_HINTS) this.#hints.delete(this.#hints.keys().next().value as number)
  }

  /** The nearest known position at or before line `seq`. */
  at(seq: number): LinePosition {
    const offset = this.#hints.get(seq)
    if (offset !== undefined) return { seq, offset }
    return this.#table.findLast((known) => known.seq <= seq) ?? START
  }
}
