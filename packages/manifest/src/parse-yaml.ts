import { Composer, isAlias, isMap, isScalar, isSeq, Lexer, Parser } from 'yaml'
import type { Alias, CST, Document, ErrorCode, Node, Pair, YAMLMap, YAMLSeq } from 'yaml'
import type { FrontMatter } from './front-matter.js'
import { PROBLEMS_MAX, show } from './problem.js'
import type { ProblemList } from './problem.js'
import { YamlNesting } from './yaml-nesting.js'
import { inQuotes, remedyFor } from './yaml-remedy.js'
import type { YamlEntry, YamlTree } from './yaml-tree.js'

// A manifest has some hundred nodes. The limits end alias bombs, and recursion before the stack ends.
const NODES_MAX = 20_000
const DEPTH_MAX = 64

/** Parses front matter; `undefined` when nothing can be made of it. Duplicate keys keep their first value. */
export function parseYaml(front: FrontMatter, problems: ProblemList): YamlTree | undefined {
  const document = compose(front, problems)
  if (document === undefined) return undefined
  if (document.contents === null) return { value: {}, offset: 0, entries: new Map() }
  const tree = new TreeReader(front.offset, problems).read(document.contents, 0)
  if (tree === undefined || tree.entries !== undefined) return tree
  return problems.error('type_mismatch', tree.offset, {
    message: 'The top level must be a mapping.',
    expected: 'lines of key: value',
    given: tree.value,
  })
}

// uniqueKeys is off because its check is quadratic; the reader below looks for duplicates itself. Without known tags,
// `!!merge` and `!!timestamp` are reported like all others, and make no symbol or date.
const OPTIONS = { prettyErrors: false, uniqueKeys: false, logLevel: 'silent', resolveKnownTags: false } as const

/** The steps of the library's own `parseDocument`, with the nesting check between its lexer and its parser. */
function compose({ yaml, offset }: FrontMatter, problems: ProblemList): Document.Parsed | undefined {
  const nesting = new YamlNesting()
  const tooDeep = new Error('The YAML is nested too deeply.')
  function* tokens(): Generator<CST.Token, void> {
    const parser = new Parser()
    for (const token of new Lexer().lex(yaml)) {
      if (nesting.isTooDeep(token)) throw tooDeep
      yield* parser.next(token)
    }
    yield* parser.end()
  }
  try {
    const composer = new Composer(OPTIONS)
    const [document, second] = composer.compose(tokens(), true, yaml.length)
    if (document === undefined) return undefined
    reportErrors(document, { yaml, offset }, problems)
    if (second !== undefined)
      problems.error('yaml_syntax', offset + second.range[0], {
        message: 'The front matter contains a second YAML document.',
        expected: 'one document: no --- and no ... between the first line and the closing line',
      })
    return document.errors.length > 0 || second !== undefined ? undefined : document
  } catch (thrown) {
    if (thrown === tooDeep)
      return problems.error('yaml_too_large', offset + nesting.offset, {
        message: tooDeep.message,
        expected: `at most ${DEPTH_MAX} levels`,
      })
    // Not known to happen. An error of the parser must not become a crash of the host.
    return problems.error('yaml_syntax', offset, { message: `The YAML cannot be read: ${sentence(String(thrown))}` })
  }
}

function reportErrors(
  { errors, warnings }: Document.Parsed,
  { yaml, offset }: FrontMatter,
  problems: ProblemList,
): void {
  const remedies = new Set<string>()
  const remedyAt = (code: ErrorCode, at: number): string | undefined => {
    const start = yaml.lastIndexOf('\n', at - 1) + 1
    const line = yaml.slice(start, yaml.indexOf('\n', start))
    // One mistake may give several errors; the first has the remedy.
    if (!REMEDIED.has(code) || line.length > LINE_CHARS_MAX || remedies.has(line)) return undefined
    remedies.add(line)
    return remedyFor(line)
  }
  for (const error of errors.slice(0, PROBLEMS_MAX + 1))
    problems.error('yaml_syntax', offset + error.pos[0], {
      message: sentence(error.message),
      expected: EXPECTED[error.code],
      suggestion: remedyAt(error.code, error.pos[0]),
    })
  for (const warning of warnings.slice(0, PROBLEMS_MAX + 1)) {
    problems.error('yaml_tag', offset + warning.pos[0], {
      message: sentence(warning.message),
      expected: 'plain YAML without tags, or quotes around a value that begins with !',
      suggestion: remedyAt(warning.code, warning.pos[0]),
    })
  }
}

/** What to write, where the library only names what is wrong. */
const EXPECTED: Readonly<Partial<Record<ErrorCode, string>>> = {
  BAD_DQ_ESCAPE: 'single quotes around a value with backslashes',
  BAD_INDENT: 'the same indentation for all keys or items of a block',
  BAD_SCALAR_START: 'quotes around a value that begins with a special character',
  BLOCK_AS_IMPLICIT_KEY: "quotes around a value that contains ': '",
  MISSING_CHAR: 'a closing quote, bracket or brace, or a comma between two items',
  MULTILINE_IMPLICIT_KEY: 'key: value on one line',
  TAB_AS_INDENT: 'spaces for indentation',
}

const LINE_CHARS_MAX = 400

/** Errors of a value that YAML takes for something else. */
const REMEDIED: ReadonlySet<ErrorCode> = new Set([
  'BAD_DQ_ESCAPE',
  'BAD_SCALAR_START',
  'BLOCK_AS_IMPLICIT_KEY',
  'MISSING_CHAR',
  'MULTILINE_IMPLICIT_KEY',
  'TAB_AS_INDENT',
  'TAG_RESOLVE_FAILED',
  'UNEXPECTED_TOKEN',
])

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
    if (++this.#nodes > NODES_MAX || depth > DEPTH_MAX) return this.#reportSize(offset)
    if (isAlias(node)) return this.#readAlias(node, depth)
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node)
    this.#open.add(node)
    const tree = this.#readValue(node, offset, depth)
    this.#open.delete(node)
    return tree
  }

  #readValue(node: Node, offset: number, depth: number): YamlTree {
    if (isMap(node)) return this.#readMap(node, offset, depth)
    if (isSeq(node)) return this.#readList(node, offset, depth)
    const value = isScalar(node) ? (node.value ?? null) : null
    if (typeof value === 'string' && value.includes('\0'))
      this.#problems.error('control_character', offset, {
        message: 'A value contains the character NUL.',
        given: 'U+0000',
      })
    // A number's own text: 1.10 is not 1.1 where a version was meant.
    return typeof value === 'number' && isScalar(node)
      ? { value, offset, source: node.source ?? '' }
      : { value, offset }
  }

  #readMap(map: YAMLMap, offset: number, depth: number): YamlTree {
    const value: Record<string, unknown> = {}
    const entries = new Map<string, YamlEntry>()
    for (const pair of map.items) {
      const keyOffset = this.#offset(pair.key as Node)
      const key = this.#key(pair, keyOffset)
      if (key === undefined) continue
      if (entries.has(key)) {
        this.#problems.error('key_duplicate', keyOffset, {
          message: `The key ${show(key)} is given twice.`,
          expected: 'each key once',
          given: key,
        })
        continue
      }
      const tree = pair.value === null ? { value: null, offset: keyOffset } : this.read(pair.value as Node, depth + 1)
      if (tree === undefined) continue
      value[key] = tree.value
      entries.set(key, { keyOffset, tree })
    }
    return { value, offset, entries }
  }

  #readList(list: YAMLSeq, offset: number, depth: number): YamlTree {
    const items = list.items.flatMap((item) => this.read(item as Node, depth + 1) ?? [])
    return { value: items.map((item) => item.value), offset, items }
  }

  #readAlias(alias: Alias, depth: number): YamlTree | undefined {
    const target = this.#anchors.get(alias.source)
    if (target !== undefined && !this.#open.has(target)) return this.read(target, depth)
    const what = target === undefined ? 'has no anchor before it' : 'contains itself'
    return this.#problems.error('yaml_alias', this.#offset(alias), {
      message: `The alias ${what}.`,
      given: `*${alias.source}`,
      expected: 'an alias of an anchor, or quotes around a value that begins with *',
      suggestion: inQuotes(`*${alias.source}`),
    })
  }

  #key({ key }: Pair, keyOffset: number): string | undefined {
    if (!isScalar(key) || (key.value !== null && typeof key.value === 'object'))
      return this.#problems.error('yaml_syntax', keyOffset, { message: 'A key must be a plain string.' })
    const text = typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
    if (text !== '__proto__' && text !== '<<' && !text.includes('\0')) return text
    return this.#problems.error('key_forbidden', keyOffset, { message: `The key ${show(text)} is not allowed.` })
  }

  #reportSize(offset: number): undefined {
    if (!this.#full)
      this.#problems.error('yaml_too_large', offset, {
        message: 'The YAML is nested too deeply or expands to too much.',
        expected: `at most ${DEPTH_MAX} levels and ${NODES_MAX} values`,
      })
    this.#full = true
    return undefined
  }

  #offset(node: Node | null | undefined): number {
    return this.#base + (node?.range?.[0] ?? 0)
  }
}
