const FLOW_DEPTH_MAX = 64
const INDENT_MAX = 64
const INDICATORS_MAX = 32

// Marks that the lexer puts between tokens. The file itself contains no control characters.
const DOCUMENT_BEGINS = '\u0002'
const FLOW_BROKEN = '\u0018'
const SCALAR_NEXT = '\u001f'
const MARKS = new Set([DOCUMENT_BEGINS, FLOW_BROKEN, SCALAR_NEXT])

/**
 * Counts the nesting of YAML tokens. A parse that is nested too deeply must end before nodes are composed: the composer
 * recurses, and if the stack ends while V8 compiles a regular expression, the process dies without an exception. The
 * lexer does not recurse, and it recognises quotes and block scalars, which a search for brackets would not.
 */
export class YamlNesting {
  /** Where the current token begins in the text. */
  offset = 0
  #flow = 0
  #indent = 0
  #lineBegins = true
  #indicators = 0
  #scalarNext = false

  /** Adds the next token; returns whether it is nested too deeply. */
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
