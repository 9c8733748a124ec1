import { joinedColumnsOf, cut } from '../render/fit.js'
import { graphemes } from '../render/graphemes.js'
import { printable } from '../render/printable.js'
import type { Key } from './keyboard.js'
import { HistorySearch } from './history-search.js'
import { InputHistory } from './input-history.js'

/** Rows of a text that is being typed. */
export interface EditorView {
  readonly rows: readonly string[]
  /** Where the cursor is in `rows`. */
  readonly cursor: { readonly row: number; readonly column: number }
  /** How many lines the text has; more than rows if there is no room for all. */
  readonly lines: number
}

/** A line of input with editing, pasting and history. Newlines come only from a paste or Alt-Enter. */
export class LineEditor {
  #before: string[] = []
  #after: string[] = []
  readonly #history = new InputHistory()
  #search: HistorySearch | undefined

  get text(): string {
    return [...this.#before, ...this.#after].join('')
  }

  set text(text: string) {
    this.#before = graphemes(text)
    this.#after = []
  }

  /** Cheaper than to compare the text, which may be a paste of megabytes. */
  get isEmpty(): boolean {
    return this.#before.length === 0 && this.#after.length === 0
  }

  /** In graphemes. */
  get length(): number {
    return this.#before.length + this.#after.length
  }

  /** Whether the text begins with this character. */
  startsWith(char: string): boolean {
    return (this.#before[0] ?? this.#after[0]) === char
  }

  /** Adds a line to the history, also one that was submitted elsewhere. */
  remember(line: string): void {
    this.#history.add(line)
  }

  /** Adds a line that was submitted before all that the history has. */
  rememberOlder(line: string): void {
    this.#history.addOlder(line)
  }

  /** The search through the history that gets the keys; undefined without one. */
  get search(): HistorySearch | undefined {
    return this.#search
  }

  startSearch(): undefined {
    this.#search = new HistorySearch(this.#history)
  }

  /** Handles one key of the search, whose end gives the line what it found. @returns a key that is for the line */
  searchKey(key: Key): Key | undefined {
    const step = this.#search?.key(key) ?? { type: 'left' }
    if (step.type === 'more') return undefined
    this.#search = undefined
    if (step.type === 'left') return undefined
    this.text = step.line
    return step.passed
  }

  /** Handles one key. @returns the line when it was submitted */
  key(key: Key): string | undefined {
    if (key.name === 'return' || key.name === 'enter') return this.#enter(key)
    const name = key.name ?? ''
    const step = (key.ctrl ? CONTROL_STEPS : STEPS)[name]
    const edit = (key.ctrl ? CONTROL_EDITS : EDITS)[name]
    if (step !== undefined) this.#move(step)
    else if (edit !== undefined) [this.#before, this.#after] = edit(this.#before, this.#after)
    else this.#insert(key)
    return undefined
  }

  clear(): void {
    this.text = ''
    this.#history.leave()
  }

  /** The text on one row of at most `width` columns, scrolled to the cursor, and the cursor's column in it. */
  view(width: number): { readonly text: string; readonly column: number } {
    return scrolled(this.#before, this.#after, width)
  }

  /** The text as lines, at most `height` of them around the cursor, each in at most `width` columns. */
  viewLines(width: number, height: number): EditorView {
    const above = lastLines(this.#before, height)
    const below = firstLines(this.#after, height)
    const { text, column } = scrolled(above.pop() ?? [], below.shift() ?? [], width)
    const plain = (line: readonly string[]): string => cut(shown(line.slice(0, 2 * width)), width)
    const rowsBelow = Math.min(below.length, Math.max(0, height - 1 - above.length))
    const rowsAbove = Math.min(above.length, height - 1 - rowsBelow)
    return {
      rows: [...above.slice(above.length - rowsAbove).map(plain), text, ...below.slice(0, rowsBelow).map(plain)],
      cursor: { row: rowsAbove, column },
      lines: 1 + newlinesIn(this.#before) + newlinesIn(this.#after),
    }
  }

  #insert(key: Key): void {
    const typed = graphemes(typedBy(key))
    // Not by `push(...typed)`: a paste may have more parts than a call may have arguments.
    if (typed.length > 0) this.#before = this.#before.concat(typed)
  }

  #enter({ meta }: Key): string | undefined {
    if (meta) {
      this.#before.push('\n')
      return undefined
    }
    const line = this.text
    this.remember(line)
    this.clear()
    return line
  }

  /** To the next line of the text, or else of the history. */
  #move(step: -1 | 1): void {
    const lines = step < 0 ? lastLines(this.#before, 2) : firstLines(this.#after, 2)
    if (lines.length > 1) return this.#moveLine(step)
    const line = this.#history.browse(step, this.text)
    if (line !== undefined) this.text = line
  }

  #moveLine(step: -1 | 1): void {
    const column = (lastLines(this.#before, 1)[0] ?? []).length
    const all = [...this.#before, ...this.#after]
    const start = this.#before.length - column
    const target = step < 0 ? startOfLine(all, start - 1) : this.#before.length + lineEnd(this.#after) + 1
    const length = lineEnd(all.slice(target))
    const at = target + Math.min(column, length)
    this.#before = all.slice(0, at)
    this.#after = all.slice(at)
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
/** Steps through the lines of the text, then through the history. */
const STEPS: Readonly<Record<string, -1 | 1>> = { up: -1, down: 1 }
const CONTROL_STEPS: Readonly<Record<string, -1 | 1>> = { p: -1, n: 1 }

/** The text that a key adds to the line; none for a command key. */
function typedBy({ text = '', name, ctrl, meta }: Key): string {
  if (name === 'paste') return text
  return ctrl || meta || /^[\u0000-\u0008\u000A-\u001F\u007F]/.test(text) ? '' : text
}

const shown = (parts: readonly string[]): string =>
  printable(parts.join('').replaceAll('\n', '⏎').replaceAll('\t', ' '))

/** One line, scrolled to the cursor. Only what can be visible is looked at. */
function scrolled(
  before: readonly string[],
  after: readonly string[],
  width: number,
): { readonly text: string; readonly column: number } {
  let head = before.slice(-2 * width)
  while (joinedColumnsOf(shown(head)) > width - 1) head = head.slice(Math.max(1, head.length >> 3))
  const column = joinedColumnsOf(shown(head))
  let tail = after.slice(0, 2 * width)
  while (joinedColumnsOf(shown(tail)) > width - column) tail = tail.slice(0, -Math.max(1, tail.length >> 3))
  return { text: shown(head) + shown(tail), column }
}

/** The last lines, at most `count`, the last one first read. */
function lastLines(parts: readonly string[], count: number): string[][] {
  const lines: string[][] = []
  let stop = parts.length
  while (lines.length < count) {
    const start = startOfLine(parts, stop)
    lines.unshift(parts.slice(start, stop))
    if (start === 0) break
    stop = start - 1
  }
  return lines
}

function firstLines(parts: readonly string[], count: number): string[][] {
  const lines: string[][] = []
  let start = 0
  while (lines.length < count && start <= parts.length) {
    const found = parts.indexOf('\n', start)
    const stop = found < 0 ? parts.length : found
    lines.push(parts.slice(start, stop))
    start = stop + 1
  }
  return lines
}

const startOfLine = (parts: readonly string[], stop: number): number =>
  stop <= 0 ? 0 : parts.lastIndexOf('\n', stop - 1) + 1

const lineEnd = (parts: readonly string[]): number => {
  const found = parts.indexOf('\n')
  return found < 0 ? parts.length : found
}

const newlinesIn = (parts: readonly string[]): number =>
  parts.reduce((count, part) => (part === '\n' ? count + 1 : count), 0)
