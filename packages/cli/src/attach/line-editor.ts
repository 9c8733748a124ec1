import { columnsOf } from '../render/fit.js'
import type { Key } from './key.js'

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
    const edit = key.ctrl ? CONTROL[key.name ?? ''] : EDITS[key.name ?? '']
    if (edit !== undefined) this.#edit(edit)
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

  #edit(edit: Edit): void {
    switch (edit) {
      case 'left':
        return move(this.#before, this.#after)
      case 'right':
        return moveBack(this.#before, this.#after)
      case 'home':
        this.#after = [...this.#before, ...this.#after]
        this.#before = []
        return
      case 'end':
        this.#before = [...this.#before, ...this.#after]
        this.#after = []
        return
      case 'erase':
        this.#before.pop()
        return
      case 'delete':
        this.#after.shift()
        return
      case 'erase-line':
        this.#before = []
        return
      case 'delete-line':
        this.#after = []
        return
      case 'erase-word':
        this.#before = graphemes(this.#before.join('').replace(/\S*\s*$/, ''))
        return
      case 'older':
        return this.#browse(-1)
      case 'newer':
        return this.#browse(1)
    }
  }

  #browse(step: -1 | 1): void {
    const at = this.#historyAt + step
    if (at < 0 || at > this.#history.length) return
    if (this.#historyAt === this.#history.length) this.#draft = this.text
    this.#historyAt = at
    this.text = this.#history[at] ?? this.#draft
  }
}

type Edit =
  | 'left'
  | 'right'
  | 'home'
  | 'end'
  | 'erase'
  | 'delete'
  | 'erase-line'
  | 'delete-line'
  | 'erase-word'
  | 'older'
  | 'newer'

const EDITS: Readonly<Record<string, Edit>> = {
  left: 'left',
  right: 'right',
  home: 'home',
  end: 'end',
  backspace: 'erase',
  delete: 'delete',
  up: 'older',
  down: 'newer',
}
/** The Emacs keys, as in every shell. */
const CONTROL: Readonly<Record<string, Edit>> = {
  b: 'left',
  f: 'right',
  a: 'home',
  e: 'end',
  h: 'erase',
  u: 'erase-line',
  k: 'delete-line',
  w: 'erase-word',
  p: 'older',
  n: 'newer',
}

const graphemes = (text: string): string[] => Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)

/** The text that a key adds to the line; none for a command key. */
function typedBy({ text = '', ctrl, meta }: Key): string {
  return ctrl || meta || /^[\u0000-\u0008\u000A-\u001F\u007F]/.test(text) ? '' : text
}

function move(from: string[], to: string[]): void {
  const one = from.pop()
  if (one !== undefined) to.unshift(one)
}

function moveBack(to: string[], from: string[]): void {
  const one = from.shift()
  if (one !== undefined) to.push(one)
}
