import { Composer, isAlias, isMap, isScalar, isSeq, Lexer, Parser } from 'yaml'
import type { Alias, CST, Document, Node, Pair, YAMLMap, YAMLSeq } from 'yaml'
import type { FrontMatter } from './front-matter.js'
import { PROBLEMS_MAX, show } from './problem.js'
import type { ProblemList } from './problem.js'
import { YamlNesting } from './yaml-nesting.js'
import type { YamlEntry, YamlTree } from './yaml-tree.js'

// A manifest has some hundred nodes. The bounds end alias bombs and keep recursion off the stack's end.
const NODES_MAX = 20_000
const DEPTH_MAX = 64

/** Parses front matter; `undefined` when nothing can be made of it. Duplicate keys keep their first value. */
export function parseYaml(front: FrontMatter, problems: ProblemList): YamlTree | undefined {
  const document = parseSafely(front, problems)
  if (document === undefined) return undefined
  if (document.contents === null) return { value: {}, offset: 0, entries: new Map() }
  const reader = new TreeReader(front.offset, problems)
  const tree = reader.read(document.contents, 0)
  if (tree !== undefined && tree.entries === undefined) {
    problems.error('type_mismatch', tree.offset, {
      message: 'The top level must be a mapping.',
      expected: 'lines of key: value',
      given: tree.value,
    })
    return undefined
  }
  return tree
}

function parseSafely(front: FrontMatter, problems: ProblemList): Document.Parsed | undefined {
  try {
    return compose(front, problems)
  } catch (thrown) {
    // Not known to happen; a fault of the parser must not become a crash of the host.
    problems.error('yaml_syntax', front.offset, { message: `The YAML cannot be read: ${sentence(String(thrown))}` })
    return undefined
  }
}

/** The steps of the library's own `parseDocument`, with a watch between its lexer and its parser. */
function compose({ yaml, offset }: FrontMatter, problems: ProblemList): Document.Parsed | undefined {
  const nesting = new YamlNesting()
  const tooDeep = new Error('too deep')
  function* tokens(): Generator<CST.Token, void> {
    const parser = new Parser()
    for (const token of new Lexer().lex(yaml)) {
      if (nesting.isTooDeep(token)) throw tooDeep
      yield* parser.next(token)
    }
    yield* parser.end()
  }
  try {
    // uniqueKeys is off because its check is quadratic; the reader below looks for duplicates itself.
    const composer = new Composer({ prettyErrors: false, uniqueKeys: false, logLevel: 'silent' })
    const [document, second] = composer.compose(tokens(), true, yaml.length)
    if (document === undefined) return undefined
    reportFaults(document, offset, problems)
    if (second !== undefined)
      problems.error('yaml_syntax', offset + second.range[0], {
        message: 'The front matter holds a second YAML document.',
      })
    return document.errors.length > 0 || second !== undefined ? undefined : document
  } catch (thrown) {
    if (thrown !== tooDeep) throw thrown
    problems.error('yaml_too_large', offset + nesting.offset, {
      message: 'The YAML is nested too deeply.',
      expected: `at most ${DEPTH_MAX} levels`,
    })
    return undefined
  }
}

function reportFaults({ errors, warnings }: Document.Parsed, offset: number, problems: ProblemList): void {
  for (const error of errors.slice(0, PROBLEMS_MAX + 1))
    problems.error('yaml_syntax', offset + error.pos[0], { message: sentence(error.message) })
  for (const warning of warnings.slice(0, PROBLEMS_MAX + 1)) {
    problems.error('yaml_tag', offset + warning.pos[0], {
      message: sentence(warning.message),
      expected: 'plain YAML without tags',
    })
  }
}

const sentence = (message: string): string => `${show(message.split('\n')[0]).replace(/[.:]*$/, '')}.`

class TreeReader {
  readonly #base: number
  readonly #problems: ProblemList
  readonly #anchors = new Map<string, Node>()
  readonly #open = new Set<Node>()
  #nodes = 0
  #full = false

  constructor(base: number, problems: ProblemList) {
    this.#base = base
    this.#problems = problems
  }

  read(node: Node, depth: number): YamlTree | undefined {
    const offset = this.#offset(node)
    if (++this.#nodes > NODES_MAX || depth > DEPTH_MAX) return this.#tooLarge(offset)
    if (isAlias(node)) return this.#readAlias(node, depth)
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node)
    this.#open.add(node)
    const tree = this.#readValue(node, offset, depth)
    this.#open.delete(node)
    return tree
  }

  #readValue(node: Node, offset: number, depth: number): YamlTree | undefined {
    if (isMap(node)) return this.#readMap(node, offset, depth)
    if (isSeq(node)) return this.#readList(node, offset, depth)
    return { value: isScalar(node) ? this.#scalar(node.value, offset) : null, offset }
  }

  #readMap(map: YAMLMap, offset: number, depth: number): YamlTree {
    const value: Record<string, unknown> = {}
    const entries = new Map<string, YamlEntry>()
    for (const pair of map.items) {
      const keyOffset = this.#offset(pair.key as Node)
      const key = this.#key(pair, keyOffset)
      if (key === undefined || this.#isDuplicate(entries, key, keyOffset)) continue
      const tree = pair.value === null ? { value: null, offset: keyOffset } : this.read(pair.value as Node, depth + 1)
      if (tree === undefined) continue
      value[key] = tree.value
      entries.set(key, { keyOffset, tree })
    }
    return { value, offset, entries }
  }

  #readList(list: YAMLSeq, offset: number, depth: number): YamlTree {
    const items: YamlTree[] = []
    for (const item of list.items) {
      const tree = this.read(item as Node, depth + 1)
      if (tree !== undefined) items.push(tree)
    }
    return { value: items.map((item) => item.value), offset, items }
  }

  #readAlias(alias: Alias, depth: number): YamlTree | undefined {
    const target = this.#anchors.get(alias.source)
    if (target !== undefined && !this.#open.has(target)) return this.read(target, depth)
    const what = target === undefined ? 'has no anchor before it' : 'contains itself'
    this.#problems.error('yaml_alias', this.#offset(alias), { message: `The alias *${alias.source} ${what}.` })
    return undefined
  }

  #key(pair: Pair, keyOffset: number): string | undefined {
    const key = isScalar(pair.key) ? pair.key : undefined
    if (key === undefined || (key.value !== null && typeof key.value === 'object')) {
      this.#problems.error('yaml_syntax', keyOffset, { message: 'A key must be a plain text.' })
      return undefined
    }
    const text = typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
    if (text === '__proto__' || text.includes('\0')) {
      this.#problems.error('key_forbidden', keyOffset, { message: `The key ${show(text)} is not allowed.` })
      return undefined
    }
    return text
  }

  #isDuplicate(entries: ReadonlyMap<string, YamlEntry>, key: string, keyOffset: number): boolean {
    if (!entries.has(key)) return false
    this.#problems.error('key_duplicate', keyOffset, {
      message: `The key ${show(key)} is given twice.`,
      given: key,
    })
    return true
  }

  #scalar(value: unknown, offset: number): unknown {
    if (typeof value === 'string' && value.includes('\0')) {
      this.#problems.error('control_character', offset, {
        message: 'A value holds the character NUL.',
        given: 'U+0000',
      })
    }
    return value ?? null
  }

  #tooLarge(offset: number): undefined {
    if (!this.#full) {
      this.#problems.error('yaml_too_large', offset, {
        message: 'The YAML is nested too deeply or expands to too much.',
        expected: `at most ${DEPTH_MAX} levels and ${NODES_MAX} values`,
      })
    }
    this.#full = true
    return undefined
  }

  #offset(node: Node | null | undefined): number {
    return this.#base + (node?.range?.[0] ?? 0)
  }
}
