import type { ManifestProblem } from '@agentproto/manifest'

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
