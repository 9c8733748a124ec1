import type { Key } from './keyboard.js'
import { isCtrl } from './keyboard.js'
import type { InputHistory } from './input-history.js'

/** What a key does to the search: it goes on, ends with a line, or ends without one. A `passed` key is for the line. */
export type SearchStep =
  | { readonly type: 'more' }
  | { readonly type: 'found'; readonly line: string; readonly passed?: Key }
  | { readonly type: 'left' }

/** The search of a shell through earlier lines: text narrows it, Ctrl-R goes to an older line. */
export class HistorySearch {
  readonly #history: InputHistory
  #text = ''
  #found: string | undefined

  constructor(history: InputHistory) {
    this.#history = history
  }

  get text(): string {
    return this.#text
  }

  /** The line that matches; undefined if none does. */
  get found(): string | undefined {
    return this.#found
  }

  key(key: Key): SearchStep {
    if (isCtrl(key, 'r')) return this.#find(this.#found)
    if (key.name === 'escape' || isCtrl(key, 'c') || isCtrl(key, 'g')) return { type: 'left' }
    if (key.name === 'backspace') return this.#narrow(this.#text.slice(0, -1))
    if (isText(key)) return this.#narrow(this.#text + (key.text ?? ''))
    if (key.name === 'paste-start' || key.name === 'paste-end') return { type: 'more' }
    return this.#take(key)
  }

  /** Enter takes the line and does not send it: the person reads it first. */
  #take(key: Key): SearchStep {
    if (this.#found === undefined) return { type: 'left' }
    const isEnter = key.name === 'return' || key.name === 'enter'
    return isEnter ? { type: 'found', line: this.#found } : { type: 'found', line: this.#found, passed: key }
  }

  #narrow(text: string): SearchStep {
    this.#text = text
    this.#found = undefined
    return text === '' ? { type: 'more' } : this.#find()
  }

  #find(before?: string): SearchStep {
    // No older line: the one that was found stays.
    if (this.#text !== '') this.#found = this.#history.find(this.#text, before) ?? before
    return { type: 'more' }
  }
}

const isText = ({ text = '', name, ctrl, meta }: Key): boolean =>
  name === 'paste' || (!ctrl && !meta && /^[^\u0000-\u001F\u007F]/.test(text))
