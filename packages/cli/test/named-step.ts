/** The step that a message names last: a command with the words that a shell makes of it, or a variable to unset. */
export type NamedStep = { readonly command: readonly string[] } | { readonly unset: string }

const COMMAND = /(?::\s|`|\| )agentproto (.+?)(?=`|\?(?:\s|$)|, or |; |\.(?:\s|$)|\s&&|, |$)/gm

/** @param which Of several commands: the first one is the likeliest. Default: 0 */
export function namedStep(message: string, which = 0): NamedStep | undefined {
  const unset = /\bunset ([A-Z_]+)/.exec(message)?.[1]
  if (unset !== undefined) return { unset }
  // A sentence may begin with the command that was given.
  const sentence = message.replace(/^agentproto: /gm, '')
  const [, line] = [...sentence.matchAll(COMMAND)][which] ?? []
  return line === undefined ? undefined : { command: shellWords(line) }
}

/** The words of a line with quotes, as a shell reads them. */
export const shellWords = (line: string): string[] =>
  [...line.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_match, double?: string, single?: string) => double ?? single ?? ''),
  )
