const FLOW_DEPTH_MAX = 64
const INDENT_MAX = 64
const INDICATORS_MAX = 32

// Marks that the lexer puts between the texts of its tokens; the file itself holds no control character.
const DOCUMENT_BEGINS = '\u0002'
const FLOW_BROKEN = '\u0018'
const SCALAR_NEXT = '\u001f'
const MARKS = new Set([DOCUMENT_BEGINS, FLOW_BROKEN, SCALAR_NEXT])

/**
 * Watches the tokens of the YAML lexer for nesting that is too deep. It must end the parse before nodes are
 * composed: the composer recurses, and where the stack ends while V8 compiles a regular expression,
 * the process dies with no exception to catch. The lexer does not recurse, and sees quotes and block texts
 * as they are, which a look at the characters would not.
 */
export class YamlNesting {
  /** Where in the text the watched token begins. */
  offset = 0
  #flow = 0
  #indent = 0
  #lineBegins = true
  #indicators = 0
  #scalarNext = false

  /** Takes the next token; says whether it is nested too deeply. */
  isTooDeep(token: string): boolean {
    if (MARKS.has(token)) {
      if (token === FLOW_BROKEN) this.#flow = 0
      this.#scalarNext = token === SCALAR_NEXT
      return false
    }
    const deep = !this.#scalarNext && this.#opens(token)
    this.#scalarNext = false
    if (!deep) this.#advance(token)
    return deep
  }

  #opens(token: string): boolean {
    if (token === '[' || token === '{') return ++this.#flow > FLOW_DEPTH_MAX
    if (token === ']' || token === '}') this.#flow = Math.max(0, this.#flow - 1)
    const structural = token === '-' || token === '?' || token === ':'
    if (!structural || this.#flow > 0) return false
    return ++this.#indicators > INDICATORS_MAX || this.#indent > INDENT_MAX
  }

  #advance(token: string): void {
    this.offset += token.length
    if (token.endsWith('\n')) {
      this.#indent = 0
      this.#indicators = 0
      this.#lineBegins = true
    } else if (this.#lineBegins && token.startsWith(' ')) {
      this.#indent += token.length
    } else {
      this.#lineBegins = false
    }
  }
}
