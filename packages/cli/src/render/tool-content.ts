import type { ToolContent } from '@agentproto/contracts'
import { cut } from './fit.js'
import type { Frame } from './paint.js'
import { oneLine, printable } from './printable.js'

/** The rows of one tool call in a transcript; the rest is in the log. */
const MAX_ROWS = 12
const INDENT = '    '

/** The content of a tool call, indented and shortened. */
export function toolContentRows(content: readonly ToolContent[], frame: Frame): string[] {
  const rows = content.flatMap((each) => rowsOf(each, frame))
  if (rows.length <= MAX_ROWS) return rows
  return [...rows.slice(0, MAX_ROWS - 1), frame.paint.dim(`${INDENT}… ${rows.length - MAX_ROWS + 1} more lines`)]
}

function rowsOf(content: ToolContent, { paint, width }: Frame): string[] {
  const row = (text: string, style: (text: string) => string): string => style(cut(INDENT + text, width))
  switch (content.type) {
    case 'diff': {
      const title = row(oneLine(content.path), paint.bold)
      const changes = lineDiff(printable(content.oldText ?? ''), printable(content.newText))
      return [title, ...changes.map(({ sign, line }) => row(`${sign} ${line}`, sign === '+' ? paint.green : paint.red))]
    }
    case 'terminal':
      return [row(`terminal ${oneLine(content.terminalId)}`, paint.dim)]
    case 'content': {
      const text = content.content.type === 'text' ? content.content.text : `[${content.content.type}]`
      const lines = printable(text).trimEnd()
      return lines === '' ? [] : lines.split('\n').map((line) => row(line, paint.dim))
    }
  }
}

export interface ChangedLine {
  readonly sign: '+' | '-'
  readonly line: string
}

/** All lines that differ, without the equal lines before and after them. */
export function lineDiff(before: string, after: string): ChangedLine[] {
  const old = linesOf(before)
  const now = linesOf(after)
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++
  return [
    ...old.slice(start, old.length - end).map((line) => ({ sign: '-', line }) as const),
    ...now.slice(start, now.length - end).map((line) => ({ sign: '+', line }) as const),
  ]
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))
