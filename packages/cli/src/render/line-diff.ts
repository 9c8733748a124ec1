export interface ChangedLine {
  readonly sign: '+' | '-'
  readonly line: string
}

/** The lines that differ, without the equal lines before and after them. */
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
