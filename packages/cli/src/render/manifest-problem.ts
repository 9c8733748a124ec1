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
  const margin = `  ${paint.dim(`${' '.repeat(String(line).length)} │`)}`
  return [
    `${paint.bold(`${file}:${line}:${column}`)} ${tint(severity)} ${message} ${paint.dim(`[${code}]`)}`,
    ...(excerpt === ''
      ? []
      : [`  ${paint.dim(`${line} │`)} ${excerpt}`, `${margin} ${' '.repeat(column - 1)}${tint('^')}`]),
    ...(details.length === 0 ? [] : [`${margin} ${details.join('; ')}`]),
    ...(suggestion === undefined ? [] : [`${margin} ${paint.green(`try: ${suggestion}`)}`]),
    '',
  ]
}

/** A problem as a workflow command of GitHub Actions, which shows it at its line of the diff. */
export function githubAnnotation(problem: ManifestProblem): string {
  const { severity, file, line, column, code, message, expected, given, suggestion } = problem
  const details = [
    message,
    ...(expected === undefined ? [] : [`Expected ${expected}.`]),
    ...(given === undefined ? [] : [`Given ${given}.`]),
    ...(suggestion === undefined ? [] : [`Try ${suggestion}`]),
  ]
  const properties = [`file=${property(file)}`, `line=${line}`, `col=${column}`, `title=${property(code)}`]
  return `::${severity} ${properties.join(',')}::${data(details.join(' '))}`
}

/** The runner reads one command per line, and decodes these escapes. */
const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
