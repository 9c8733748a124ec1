import { parseDocument } from 'yaml'

/** Values that YAML reads as something else than the text that was meant. */
const COMMENT = /\s#/
const LINE = /^(\s*(?:-\s+)*)(?:([\w.-]+):\s+)?(\S.*?)\s*$/

/**
 * A line as it was most likely meant, where YAML cannot read it: its value in quotes, a space after a dash or a colon, spaces
 * for tabs. Only what YAML then reads as one value is suggested.
 */
export function remedyFor(line: string): string | undefined {
  const indented = line.replace(/^[ \t]*/, (space) => space.replaceAll('\t', '  '))
  if (indented !== line && isReadable(indented)) return indented.trim()
  const dashed = line.replace(/^(\s*)-(?=[A-Za-z_])/, '$1- ')
  if (dashed !== line && isReadable(dashed)) return dashed.trim()
  // What is readable alone is wrong only beside its neighbours.
  if (isReadable(line)) return undefined
  const spaced = line.replace(/^(\s*(?:- +)?[A-Za-z_][\w.-]*):(?=[^\s/])/, '$1: ')
  return [spaced, quoted(line)].find((candidate) => candidate !== undefined && isReadable(candidate))?.trim()
}

/** The value of a line in quotes. */
function quoted(line: string): string | undefined {
  const [, lead = '', key, value = ''] = LINE.exec(line) ?? []
  if (value === '' || COMMENT.test(value) || (key === undefined && !lead.includes('-'))) return undefined
  return `${lead}${key === undefined ? '' : `${key}: `}${inQuotes(value)}`
}

/** Single quotes, in which nothing is special but the quote itself. Quotes that are there already were meant to do the same. */
export function inQuotes(value: string): string {
  const [, , inner = value] = /^(["'])(.*)\1$/.exec(value) ?? []
  return `'${inner.replaceAll("'", "''")}'`
}

/** Whether YAML reads it without an error, as a mapping or a list. */
function isReadable(line: string): boolean {
  const { errors, warnings, contents } = parseDocument(line.trim(), { logLevel: 'silent', prettyErrors: false })
  return errors.length === 0 && warnings.length === 0 && contents !== null && 'items' in contents
}
