import type { ManifestProblem } from '@agentproto/manifest'
import type { Paint } from './paint.js'

/** One problem of a manifest: its place, a message, the line with a mark, and a suggestion. */
export function renderProblem(problem: ManifestProblem, paint: Paint): string[] {
  const { file, line, column, severity, code, message, expected, given, suggestion, excerpt } = problem
  const tint = severity === 'error' ? paint.red : paint.yellow
  const details = [
    ...(expected === undefined ? [] : [`expected ${expected}`]),
    ...(given === undefined ? [] : [`given ${given}`]),
  ]
  const number = String(line)
  const margin = ' '.repeat(number.length)
  return [
    `${paint.bold(`${file}:${line}:${column}`)} ${tint(severity)} ${message} ${paint.dim(`[${code}]`)}`,
    ...(excerpt === ''
      ? []
      : [
          `  ${paint.dim(`${number} │`)} ${excerpt}`,
          `  ${paint.dim(`${margin} │`)} ${' '.repeat(column - 1)}${tint('^')}`,
        ]),
    ...(details.length === 0 ? [] : [`  ${paint.dim(`${margin} │`)} ${details.join('; ')}`]),
    ...(suggestion === undefined ? [] : [`  ${paint.dim(`${margin} │`)} ${paint.green(`try: ${suggestion}`)}`]),
    '',
  ]
}
