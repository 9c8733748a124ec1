/** A command line as a person can type it again: one line, with quotes where a shell needs them. */
export function commandLine(argv: readonly string[]): string {
  return ['agentproto', ...argv.map(quoted)].join(' ')
}

/** A longer line does not help. */
const MAX_CHARS = 240

/** Whether the words can be repeated in a sentence: on one line, and without control characters. */
export const isRepeatable = (argv: readonly string[]): boolean =>
  commandLine(argv).length <= MAX_CHARS && argv.every((word) => !/\p{C}|[\u2028\u2029]|\s{2}/u.test(word))

function quoted(word: string): string {
  if (/^[\p{L}\p{N}_@%+=:,./~^-]+$/u.test(word)) return word
  return /^[^"$`\\!]*$/.test(word) ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`
}
