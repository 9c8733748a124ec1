import { isDeepStrictEqual } from 'node:util'
import type { LoggedSignal } from './logged-signal.js'

/**
 * What the log has of one lane, compared with what is emitted again. Text is compared as a whole: it may have been cut into
 * other pieces. Of the log no more is held than its next signal.
 */
export class LoggedLane {
  readonly #logged: AsyncIterator<LoggedSignal>
  #head: LoggedSignal | undefined
  /** How much of the head's text was emitted again. */
  #taken = 0
  #isOver = false

  constructor(logged: AsyncIterable<LoggedSignal>) {
    this.#logged = logged[Symbol.asyncIterator]()
  }

  /** Everything was emitted again: what comes is new. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Compares the next signal. */
  async take(signal: LoggedSignal): Promise<Recognised> {
    if (!isText(signal)) return this.#takeWhole(signal)
    if (signal.text !== '') return this.#takeText(signal)
    return { is: (await this.#peek()) === undefined ? 'new' : 'logged' }
  }

  /** What the log has and was not emitted again; undefined if there is nothing. */
  async missing(): Promise<LoggedSignal | undefined> {
    return this.#peekNeeded()
  }

  /** Learns whether the log has more. */
  async lookAhead(): Promise<void> {
    await this.#peek()
  }

  async #takeWhole(signal: LoggedSignal): Promise<Recognised> {
    let head = await this.#peek()
    while (head !== undefined && !isSame(head, signal) && isOptional(head)) head = await this.#skip()
    if (head === undefined) return { is: 'new' }
    if (this.#taken > 0 || !isSame(head, signal)) return { is: 'other', logged: head }
    await this.#skip()
    return { is: 'logged' }
  }

  /** @param from how much of its text is compared already */
  async #takeText(signal: LoggedText, from = 0): Promise<Recognised> {
    const head = await this.#peekNeeded()
    if (head === undefined) return from === 0 ? { is: 'new' } : { is: 'longer', rest: signal.text.slice(from) }
    if (!isText(head) || !isSameKind(head, signal)) return { is: 'other', logged: head }
    const { taken, at } = commonPart(head, { taken: this.#taken, text: signal.text, at: from })
    this.#taken = taken
    const isCompared = at >= signal.text.length
    if (taken < head.text.length) return isCompared ? { is: 'logged' } : { is: 'other', logged: head }
    await this.#skip()
    return isCompared ? { is: 'logged' } : this.#takeText(signal, at)
  }

  /** The next one that the agent must have emitted. */
  async #peekNeeded(): Promise<LoggedSignal | undefined> {
    let head = await this.#peek()
    while (head !== undefined && isOptional(head)) head = await this.#skip()
    return head
  }

  async #peek(): Promise<LoggedSignal | undefined> {
    if (this.#head === undefined && !this.#isOver) await this.#skip()
    return this.#head
  }

  /** The head is done with. */
  async #skip(): Promise<LoggedSignal | undefined> {
    const { done, value } = await this.#logged.next()
    this.#isOver = done === true
    this.#head = done === true ? undefined : value
    this.#taken = 0
    return this.#head
  }
}

/** What the log knows of a signal that was emitted again. */
export type Recognised =
  | { readonly is: 'logged' }
  /** The log ends before it. */
  | { readonly is: 'new' }
  /** The log ends within its text. */
  | { readonly is: 'longer'; readonly rest: string }
  /** The log has something else there. */
  | { readonly is: 'other'; readonly logged: LoggedSignal }

type LoggedText = LoggedSignal & { readonly text: string }

const isText = (signal: LoggedSignal): signal is LoggedText =>
  TEXTS.has(signal.type) && typeof signal['text'] === 'string'

const TEXTS: ReadonlySet<LoggedSignal['type']> = new Set(['text-delta', 'thought', 'output'])

function isSameKind({ text: _, ...head }: LoggedText, { text: _t, ...signal }: LoggedText): boolean {
  return isDeepStrictEqual(head, signal)
}

/** A turn that was cancelled for its silence is logged as one that timed out, whatever the agent calls its end. */
function isSame(head: LoggedSignal, signal: LoggedSignal): boolean {
  if (head.type === 'turn-end' && head['reason'] === 'timeout' && signal['reason'] === 'cancelled')
    return isDeepStrictEqual({ ...head, reason: 'cancelled' }, signal)
  return isDeepStrictEqual(head, signal)
}

/** What the agent need not have emitted there: a person may have given the session its title; an empty text says nothing. */
const isOptional = ({ type, text }: LoggedSignal): boolean => type === 'title' || (TEXTS.has(type) && text === '')

/** How far two texts are the same. Lines of output may be cut into events anywhere, so that their breaks say nothing. */
function commonPart(head: LoggedText, { taken, text, at }: Places): Pick<Places, 'taken' | 'at'> {
  if (head.type !== 'output') {
    const length = Math.min(head.text.length - taken, text.length - at)
    const isCommon = head.text.slice(taken, taken + length) === text.slice(at, at + length)
    return isCommon ? { taken: taken + length, at: at + length } : { taken, at }
  }
  let [i, j] = [taken, at]
  for (;;) {
    while (head.text[i] === '\n') i += 1
    while (text[j] === '\n') j += 1
    if (i >= head.text.length || j >= text.length || head.text[i] !== text[j]) return { taken: i, at: j }
    i += 1
    j += 1
  }
}

interface Places {
  /** In the text of the log. */
  readonly taken: number
  readonly text: string
  readonly at: number
}
