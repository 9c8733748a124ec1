import { columnsOf } from '../render/fit.js'
import type { Key } from './keyboard.js'

const MAX_HISTORY = 200

/** A line of input with editing, pasting and history. Newlines come only from a paste or Alt-Enter. */
export class LineEditor {
  #before: string[] = []
  #after: string[] = []
  readonly #history: string[] = []
  #historyAt = 0
  #draft = ''
  #pasting = false

  get text(): string {
    return [...this.#before, ...this.#after].join('')
  }

  set text(text: string) {
    this.#before = graphemes(text)
    this.#after = []
  }

  /** Adds a line to the history, also one that was submitted elsewhere. */
  remember(line: string): void {
    const atEnd = this.#historyAt === this.#history.length
    if (line.trim() !== '' && this.#history.at(-1) !== line) this.#history.push(line)
    if (this.#history.length > MAX_HISTORY) this.#history.shift()
    if (atEnd) this.#historyAt = this.#history.length
  }

  /** Handles one key. @returns the line when it was submitted */
  key(key: Key): string | undefined {
    if (key.name === 'paste-start' || key.name === 'paste-end') {
      this.#pasting = key.name === 'paste-start'
      return undefined
    }
    if (key.name === 'return' || key.name === 'enter') return this.#enter(key)
    const name = key.name ?? ''
    const step = (key.ctrl ? CONTROL_STEPS : STEPS)[name]
    const edit = (key.ctrl ? CONTROL_EDITS : EDITS)[name]
    if (step !== undefined) this.#browse(step)
    else if (edit !== undefined) [this.#before, this.#after] = edit(this.#before, this.#after)
    else this.#before.push(...graphemes(typedBy(key)))
    return undefined
  }

  clear(): void {
    this.text = ''
    this.#historyAt = this.#history.length
  }

  /** The line in at most `width` columns, scrolled to the cursor, and the cursor's column in it. */
  view(width: number): { readonly text: string; readonly column: number } {
    const shown = (parts: readonly string[]): string => parts.join('').replaceAll('\n', '⏎').replaceAll('\t', ' ')
    let left = this.#before
    while (columnsOf(shown(left)) > width - 1) left = left.slice(Math.max(1, left.length >> 3))
    const column = columnsOf(shown(left))
    let right = this.#after
    while (columnsOf(shown(right)) > width - column) right = right.slice(0, -Math.max(1, right.length >> 3))
    return { text: shown(left) + shown(right), column }
  }

  #enter({ meta }: Key): string | undefined {
    if (this.#pasting || meta) {
      this.#before.push('\n')
      return undefined
    }
    const line = this.text
    this.remember(line)
    this.clear()
    return line
  }

  #browse(step: -1 | 1): void {
    const at = this.#historyAt + step
    if (at < 0 || at > this.#history.length) return
    if (this.#historyAt === this.#history.length) this.#draft = this.text
    this.#historyAt = at
    this.text = this.#history[at] ?? this.#draft
  }
}

/** What is before and after the cursor, by grapheme. */
type Line = [before: string[], after: string[]]
type Edit = (before: string[], after: string[]) => Line

const left: Edit = (before, after) => [before.slice(0, -1), [...before.slice(-1), ...after]]
const right: Edit = (before, after) => [[...before, ...after.slice(0, 1)], after.slice(1)]
const home: Edit = (before, after) => [[], [...before, ...after]]
const end: Edit = (before, after) => [[...before, ...after], []]
const erase: Edit = (before, after) => [before.slice(0, -1), after]
const eraseWord: Edit = (before, after) => [graphemes(before.join('').replace(/\S*\s*$/, '')), after]

const EDITS: Readonly<Record<string, Edit>> = {
  left,
  right,
  home,
  end,
  backspace: erase,
  delete: (before, after) => [before, after.slice(1)],
}
/** The Emacs keys, as in every shell. */
const CONTROL_EDITS: Readonly<Record<string, Edit>> = {
  b: left,
  f: right,
  a: home,
  e: end,
  h: erase,
  u: (_, after) => [[], after],
  k: (before) => [before, []],
  w: eraseWord,
}
/** Steps in the history. */
const STEPS: Readonly<Record<string, -1 | 1>> = { up: -1, down: 1 }
const CONTROL_STEPS: Readonly<Record<string, -1 | 1>> = { p: -1, n: 1 }

const graphemes = (text: string): string[] => Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)

/** The text that a key adds to the line; none for a command key. */
function typedBy({ text = '', ctrl, meta }: Key): string {
  return ctrl || meta || /^[\u0000-\u0008\u000A-\u001F\u007F]/.test(text) ? '' : text
}
