/** What a command line runs, as far as that is known without a shell. */

/**
 * The simple commands of a line, each as its words, in order.
 * @returns undefined where the line does more than run words one after the other: a substitution, a variable, a
 * redirection, a group, an escape or an open quote. A line that cannot be read must not be allowed.
 */
export function simpleCommands(line: string): readonly (readonly string[])[] | undefined {
  const commands: string[][] = []
  let words: string[] = []
  let rest = line
  while (rest !== '') {
    const [token, kind] = nextToken(rest)
    if (kind === undefined) return undefined
    rest = rest.slice(token.length)
    if (kind === 'word') words.push(unquoted(token))
    if (kind === 'separator') {
      if (words.length > 0) commands.push(words)
      words = []
    }
  }
  if (words.length > 0) commands.push(words)
  return commands.length > 0 ? commands : undefined
}

/** Every word of a line, for rules that deny: a wrong guess there is on the safe side. */
export function looseWords(line: string): readonly string[] {
  return line
    .replaceAll(/["'\\]/g, '')
    .split(/[\s;&|()<>{}`$!]+/)
    .filter((word) => word !== '')
}

/** The script of `sh -c '…'`, which is what such a command runs; else the words as one line. */
export function lineOf(argv: readonly string[]): string {
  const [program = '', flag = '', script] = argv
  // Other flags change how the script is read, or what is one: with `-norc` it is not the next word.
  if (SHELL.test(program) && /^-l?c$/.test(flag) && script !== undefined && argv.length === 3) return script
  return argv.map(quoted).join(' ')
}

/** By name, or in a system folder: a program of that name elsewhere may be anything. */
const SHELL = /^(?:(?:\/usr(?:\/local)?)?\/bin\/)?(?:ba|da|z|k)?sh$/

/** A word as a shell would read it back. */
export const quoted = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`)

const PLAIN = /^[\w@%+=:,./-]+$/

type Kind = 'word' | 'separator' | 'space'

const TOKENS: readonly (readonly [Kind, RegExp])[] = [
  ['space', /^[ \t]+/],
  ['separator', /^(?:&&|\|\||;|\||&|\r?\n)/],
  // Unquoted, single-quoted, or double-quoted without anything that a shell expands.
  ['word', /^(?:[^\s;&|()<>{}`$!\\"'#*?[\]~\0]|'[^'\0]*'|"[^"`$!\\\0]*"|(?<=\S)[#~])+/],
]

function nextToken(text: string): readonly [string, Kind | undefined] {
  for (const [kind, pattern] of TOKENS) {
    const [found] = pattern.exec(text) ?? []
    if (found !== undefined) return [found, kind]
  }
  return ['', undefined]
}

const unquoted = (word: string): string => word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2')
