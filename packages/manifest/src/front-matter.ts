import type { ProblemList } from './problem.js'
import type { SourceText } from './source-text.js'

/** The YAML block at the head of a Markdown file. */
export interface FrontMatter {
  readonly yaml: string
  /** Where the YAML begins in the file. */
  readonly offset: number
  /** What follows the closing line. */
  readonly body: string
}

const FILE_CHARS_MAX = 1024 * 1024
const YAML_CHARS_MAX = 64 * 1024
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/

/**
 * Splits a file into front matter and body. Ours and not a library's: the common one runs `---js`
 * blocks as code, takes `----` for a closing line and hides errors behind a cache.
 */
export function splitFrontMatter(source: SourceText, problems: ProblemList): FrontMatter | undefined {
  const { text } = source
  if (text.length > FILE_CHARS_MAX) {
    problems.error('file_too_large', 0, {
      message: 'The file is too large for a manifest.',

      expected: `at most ${FILE_CHARS_MAX} characters`,
      given: text.length,
    })
    return undefined
  }
  const start = text.startsWith('\ufeff') ? 1 : 0
  if (start === 1) {
    problems.warn('byte_order_mark', 0, {
      message: 'The file begins with a byte order mark.',
      expected: 'plain UTF-8',
    })
  }
  const opening = openingLine(source, start, problems)
  return opening === undefined ? undefined : takeBlock(source, opening, problems)
}

/** Offset of the first character of the YAML. */
function openingLine(source: SourceText, start: number, problems: ProblemList): number | undefined {
  const { text } = source
  const end = lineEnd(text, start)
  const line = text.slice(start, end).trimEnd()
  if (line === '---') return Math.min(end + 1, text.length)
  const language = /^---\s*([A-Za-z][\w+-]*)$/.exec(line)?.[1]
  if (language !== undefined) {
    problems.error('front_matter_language', start, {
      message: 'The front matter must be YAML; no other language is read or run.',

      expected: '---',
      given: line,
      suggestion: '---',
    })
  } else {
    problems.error('front_matter_missing', start, {
      message: 'The file has no front matter.',

      expected: 'a first line of --- , then YAML, then another line of ---',
      given: line,
    })
  }
  return undefined
}

function takeBlock(source: SourceText, offset: number, problems: ProblemList): FrontMatter | undefined {
  const { text } = source
  const close = /^---[ \t]*\r?$/m
  const rest = text.slice(offset)
  const found = close.exec(rest)
  if (found === null) {
    problems.error('front_matter_unclosed', 0, {
      message: 'The front matter is not closed.',
      expected: 'a line of --- after the YAML',
    })
    return undefined
  }
  const yaml = rest.slice(0, found.index)
  if (yaml.length > YAML_CHARS_MAX) {
    problems.error('file_too_large', 0, {
      message: 'The front matter is too large.',

      expected: `at most ${YAML_CHARS_MAX} characters`,
      given: yaml.length,
    })
    return undefined
  }
  const control = CONTROL.exec(yaml)
  if (control !== null) {
    problems.error('control_character', offset + control.index, {
      message: 'The front matter holds a control character.',

      given: `U+${control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
    })
    return undefined
  }
  return { yaml, offset, body: rest.slice(found.index + found[0].length).replace(/^\n/, '') }
}

const lineEnd = (text: string, start: number): number => {
  const at = text.indexOf('\n', start)
  return at === -1 ? text.length : at
}
