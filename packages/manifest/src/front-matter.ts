import matter from 'gray-matter'
import type { ProblemList } from './problem.js'
import type { SourceText } from './source-text.js'

/** The YAML block at the head of a Markdown file. */
export interface FrontMatter {
  readonly yaml: string
  /** Where the YAML begins in the file. */
  readonly offset: number
}

const FILE_CHARS_MAX = 1024 * 1024
const YAML_CHARS_MAX = 64 * 1024
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/
const DELIMITER = '---'

/** Finds the YAML of a manifest; `undefined` when there is none to parse. */
export function splitFrontMatter(source: SourceText, problems: ProblemList): FrontMatter | undefined {
  const { text } = source
  if (text.length > FILE_CHARS_MAX)
    return problems.error('file_too_large', 0, {
      message: 'The file is too large for a manifest.',
      expected: `at most ${FILE_CHARS_MAX} characters`,
      given: text.length,
    })
  const start = text.startsWith('\ufeff') ? 1 : 0
  if (start === 1) {
    problems.warn('byte_order_mark', 0, {
      message: 'The file begins with a byte order mark.',
      expected: 'UTF-8 without a byte order mark',
    })
  }
  return opensYaml(source, start, problems) ? readBlock(source, start, problems) : undefined
}

/**
 * Whether the first line opens a YAML block. It is checked before gray-matter sees the text, because gray-matter
 * runs a block that begins with `---js` as code.
 */
function opensYaml({ text }: SourceText, start: number, problems: ProblemList): boolean {
  const line = (/^[^\n]*/.exec(text.slice(start))?.[0] ?? '').trimEnd()
  if (line === DELIMITER) return true
  if (/^---\s*[A-Za-z]/.test(line)) {
    problems.error('front_matter_language', start, {
      message: 'The front matter must be YAML. No other language is read or run.',
      expected: DELIMITER,
      given: line,
      suggestion: DELIMITER,
    })
  } else {
    problems.error('front_matter_missing', start, {
      message: 'The file has no front matter.',
      expected: 'a first line ---, then YAML, then another line ---',
      given: line,
    })
  }
  return false
}

const refuse = (): never => {
  throw new Error('Front matter must be YAML.')
}

/** Only finds the block; it is parsed later, with positions. Options of any kind turn gray-matter's cache off. */
const MATTER_OPTIONS = {
  language: 'yaml',
  engines: { yaml: (): object => ({}), javascript: refuse, json: refuse },
}

function readBlock({ text }: SourceText, start: number, problems: ProblemList): FrontMatter | undefined {
  // What follows the opening dashes, up to the line break before the closing ones.
  const block = matter(text, MATTER_OPTIONS).matter
  const offset = start + DELIMITER.length
  const end = offset + block.length
  // gray-matter accepts any line that begins with three dashes, or the end of the file, as the closing line.
  const isClosed = /^\n---[ \t]*\r?(?:\n|$)/.test(text.slice(end))
  if (!isClosed)
    return problems.error('front_matter_unclosed', end === text.length ? 0 : end + 1, {
      message: 'The front matter is not closed.',
      expected: 'a line that contains only ---, after the YAML',
    })
  if (block.length > YAML_CHARS_MAX)
    return problems.error('file_too_large', 0, {
      message: 'The front matter is too large.',
      expected: `at most ${YAML_CHARS_MAX} characters`,
      given: block.length,
    })
  const control = CONTROL.exec(block)
  if (control !== null)
    return problems.error('control_character', offset + control.index, {
      message: 'The front matter contains a control character.',
      given: `U+${control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
    })
  return { yaml: `${block}\n`, offset }
}
