import { plainFlowText, plainLineText, plainValue, QUOTED } from './plain-scalar.js'
import type { YamlEntry, YamlTree } from './yaml-tree.js'

const NODES_MAX = 10_000
const DEPTH_MAX = 24
const KEY = /([A-Za-z_][\w./-]{0,99}):(?=[ \n]|$)/y
const BLOCK_SCALAR = /(?:>-|\|-?)\n/y
const SPACES = / */y

/** What is thrown where the text is not plain; one for all, since nobody sees it. */
const NOT_PLAIN = new Error('not plain')

/**
 * Reads the YAML that manifests are really written in: mappings and lists by indentation, texts on one line, quotes,
 * brackets on one line, folded and literal texts. Ten times as fast as the library, of which it must be a true
 * part: it says nothing of any text that it does not read as a whole, so that all else, and every mistake, is the
 * library's to tell.
 * @param yaml without control characters but tab, line feed and carriage return
 * @param base what is added to every offset
 * @returns what the library would give, places too; nothing where the text is not plain
 */
export function readPlainYaml(yaml: string, base: number): YamlTree | undefined {
  if (/[\t\r\ufeff]/.test(yaml)) return undefined
  try {
    return new PlainReader(yaml, base).whole()
  } catch (thrown) {
    if (thrown === NOT_PLAIN) return undefined
    throw thrown
  }
}

class PlainReader {
  readonly #text: string
  readonly #base: number
  /** Where the line's content begins, and in which column; the end of the text is in column -1. */
  #start = 0
  #indent = -1
  /** What is read next in the line. */
  #at = 0
  #depth = 0
  #nodes = 0

  constructor(text: string, base: number) {
    this.#text = text
    this.#base = base
  }

  whole(): YamlTree {
    this.#toLine(0)
    if (this.#indent !== 0) throw NOT_PLAIN
    const tree = this.#block(0)
    if (this.#start !== this.#text.length) throw NOT_PLAIN
    return tree
  }

  /** Goes to the next line with content, from the beginning of a line. */
  #toLine(from: number): void {
    const text = this.#text
    for (let begin = from; begin < text.length;) {
      const start = this.#afterSpaces(begin)
      const first = text[start]
      if (first !== undefined && first !== '\n' && first !== '#') {
        this.#start = start
        this.#indent = start - begin
        return
      }
      const end = text.indexOf('\n', start)
      begin = end === -1 ? text.length : end + 1
    }
    this.#start = text.length
    this.#indent = -1
  }

  #afterSpaces(from: number): number {
    SPACES.lastIndex = from
    SPACES.test(this.#text)
    return SPACES.lastIndex
  }

  #block(indent: number): YamlTree {
    if (++this.#depth > DEPTH_MAX) throw NOT_PLAIN
    const tree = this.#isDash() ? this.#list(indent) : this.#map(indent)
    this.#depth--
    // A line that is further in than this block belongs to nothing that is read here.
    if (this.#indent > indent) throw NOT_PLAIN
    return tree
  }

  #isDash(): boolean {
    return this.#text[this.#start] === '-' && this.#text[this.#start + 1] === ' '
  }

  #map(indent: number): YamlTree {
    const value: Record<string, unknown> = {}
    const entries = new Map<string, YamlEntry>()
    const offset = this.#base + this.#start
    do {
      const keyOffset = this.#base + this.#start
      const key = this.#key(this.#start, entries)
      const tree = this.#valueOf(indent)
      value[key] = tree.value
      entries.set(key, { keyOffset, tree })
    } while (this.#indent === indent)
    return { value, offset, entries }
  }

  #key(at: number, entries: ReadonlyMap<string, YamlEntry>): string {
    KEY.lastIndex = at
    const key = KEY.exec(this.#text)?.[1]
    if (key === undefined || key === '__proto__' || entries.has(key)) throw NOT_PLAIN
    this.#at = this.#afterSpaces(KEY.lastIndex)
    return key
  }

  #list(indent: number): YamlTree {
    const items: YamlTree[] = []
    const offset = this.#base + this.#start
    do {
      this.#at = this.#afterSpaces(this.#start + 1)
      items.push(this.#item(indent))
    } while (this.#indent === indent && this.#isDash())
    return { value: items.map((item) => item.value), offset, items }
  }

  #item(indent: number): YamlTree {
    KEY.lastIndex = this.#at
    if (!KEY.test(this.#text)) return this.#inLine(indent)
    // A mapping may begin behind the dash; its other keys stand below its first.
    const within = indent + this.#at - this.#start
    this.#start = this.#at
    this.#indent = within
    return this.#block(within)
  }

  #valueOf(indent: number): YamlTree {
    const first = this.#text[this.#at]
    if (first !== undefined && first !== '\n' && first !== '#') return this.#inLine(indent)
    this.#toNextLine(this.#at)
    const isBelow = this.#indent > indent || (this.#indent === indent && this.#isDash())
    if (!isBelow) throw NOT_PLAIN
    return this.#block(this.#indent)
  }

  /** A value that ends with its line, or is a block of text below it. */
  #inLine(indent: number): YamlTree {
    const first = this.#text[this.#at]
    const tree = first === '>' || first === '|' ? this.#blockText(indent, first === '>') : this.#oneLine()
    // A text that goes on in the next line.
    if (this.#indent > indent) throw NOT_PLAIN
    return tree
  }

  #oneLine(): YamlTree {
    const first = this.#text[this.#at]
    if (first !== '"' && first !== "'" && first !== '[' && first !== '{') return this.#plain()
    const tree = this.#inBrackets()
    const after = this.#afterSpaces(this.#at)
    const next = this.#text[after]
    if (next !== undefined && next !== '\n' && !(next === '#' && after > this.#at)) throw NOT_PLAIN
    this.#toNextLine(after)
    return tree
  }

  #toNextLine(from: number): void {
    const end = this.#text.indexOf('\n', from)
    this.#toLine(end === -1 ? this.#text.length : end + 1)
  }

  #plain(): YamlTree {
    const from = this.#at
    const text = plainLineText(this.#text, from)
    if (text === undefined) throw NOT_PLAIN
    this.#toNextLine(from)
    return this.#scalar(text, from)
  }

  #scalar(text: string, from: number): YamlTree {
    const value = plainValue(text)
    if (value === undefined) throw NOT_PLAIN
    return this.#leaf(value, from)
  }

  #leaf(value: unknown, from: number): YamlTree {
    if (++this.#nodes > NODES_MAX) throw NOT_PLAIN
    return { value, offset: this.#base + from }
  }

  #blockText(indent: number, isFolded: boolean): YamlTree {
    const from = this.#at
    BLOCK_SCALAR.lastIndex = from
    if (!BLOCK_SCALAR.test(this.#text)) throw NOT_PLAIN
    const { lines, end } = this.#linesBelow(BLOCK_SCALAR.lastIndex, indent)
    this.#toLine(end)
    const isKept = !isFolded && this.#text[from + 1] !== '-'
    return this.#leaf(lines.join(isFolded ? ' ' : '\n') + (isKept ? '\n' : ''), from)
  }

  /** The lines of a block of text, all in one column: an empty line or a further indent has rules of its own. */
  #linesBelow(begin: number, indent: number): { readonly lines: readonly string[]; readonly end: number } {
    const lines: string[] = []
    const column = this.#afterSpaces(begin) - begin
    if (column <= indent) throw NOT_PLAIN
    for (let at = begin; ;) {
      const start = this.#afterSpaces(at)
      if (start - at < column && this.#text[start] !== '\n') return { lines, end: at }
      const end = this.#text.indexOf('\n', start)
      if (start - at !== column || end <= start || this.#text[end - 1] === ' ') throw NOT_PLAIN
      lines.push(this.#text.slice(start, end))
      at = end + 1
    }
  }

  #inBrackets(): YamlTree {
    const first = this.#text[this.#at]
    if (first === '[') return this.#flowList()
    if (first === '{') return this.#flowMap()
    if (first === '"' || first === "'") return this.#quoted(QUOTED[first])
    const from = this.#at
    const text = plainFlowText(this.#text, from)
    if (text === undefined) throw NOT_PLAIN
    this.#at = from + text.length
    return this.#scalar(text, from)
  }

  #quoted({ pattern, valueOf }: (typeof QUOTED)['"']): YamlTree {
    const from = this.#at
    pattern.lastIndex = from
    const inner = pattern.exec(this.#text)?.[1]
    if (inner === undefined) throw NOT_PLAIN
    this.#at = pattern.lastIndex
    return this.#leaf(valueOf(inner), from)
  }

  #flowList(): YamlTree {
    const offset = this.#base + this.#at
    const items: YamlTree[] = []
    this.#eachInBrackets(']', () => void items.push(this.#inBrackets()))
    return { value: items.map((item) => item.value), offset, items }
  }

  #flowMap(): YamlTree {
    const offset = this.#base + this.#at
    const value: Record<string, unknown> = {}
    const entries = new Map<string, YamlEntry>()
    this.#eachInBrackets('}', () => {
      const keyOffset = this.#base + this.#at
      const key = this.#key(this.#at, entries)
      const tree = this.#inBrackets()
      value[key] = tree.value
      entries.set(key, { keyOffset, tree })
    })
    return { value, offset, entries }
  }

  #eachInBrackets(close: string, read: () => void): void {
    if (++this.#depth > DEPTH_MAX) throw NOT_PLAIN
    this.#at = this.#afterSpaces(this.#at + 1)
    if (this.#text[this.#at] !== close) {
      for (;;) {
        read()
        this.#at = this.#afterSpaces(this.#at)
        if (this.#text[this.#at] !== ',') break
        this.#at = this.#afterSpaces(this.#at + 1)
      }
    }
    if (this.#text[this.#at] !== close) throw NOT_PLAIN
    this.#at++
    this.#depth--
  }
}
