import { AgentprotoError } from '@agentproto/contracts'

/** Values for `${…}` in a manifest's command, by what stands between the braces. */
export type Substitutions = ReadonlyMap<string, string>

/**
 * Splits a manifest's command into words as a POSIX shell would, and puts values into them: a value is
 * always part of one word, whatever it holds. There is no expansion, no globbing and no shell.
 * @throws `manifest_invalid` for an open quote or an empty command
 */
export function commandWords(command: string, values: Substitutions = new Map()): readonly [string, ...string[]] {
  const [program, ...args] = splitWords(command).map((word) => substitute(word, values))
  if (program === undefined || program === '') throw unusable(command, 'it is empty')
  return [program, ...args]
}

const PLACEHOLDER = /\$\{([^}]{1,200})\}/g

/** Puts values into a text that is no command: a question, an address. What has no value stays as it stands. */
export const substitute = (text: string, values: Substitutions): string =>
  text.replaceAll(PLACEHOLDER, (whole, name: string) => values.get(name) ?? whole)

/** The names that a text refers to. */
export const referencesIn = (text: string): readonly string[] =>
  [...text.matchAll(PLACEHOLDER)].flatMap(([, name]) => (name === undefined ? [] : [name]))

/** A stretch of a command without white space: quoted, escaped or bare. */
const PIECE = /'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|((?:\$\{[^}]*\}|[^\s'"\\])+)/y

function splitWords(command: string): string[] {
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < command.length;) {
    if (/\s/.test(command.charAt(at))) {
      if (word !== undefined) words.push(word)
      word = undefined
      at += 1
      continue
    }
    PIECE.lastIndex = at
    const piece = PIECE.exec(command)
    if (piece === null) throw unusable(command, 'a quote is left open')
    const [whole, single, double, escaped, bare] = piece
    word = (word ?? '') + (single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped ?? bare ?? '')
    at += whole.length
  }
  return word === undefined ? words : [...words, word]
}

const unusable = (command: string, why: string): AgentprotoError =>
  new AgentprotoError('manifest_invalid', `A command of the manifest cannot be run: ${why}`, {
    expected: 'a program and its arguments, quoted as for a shell',
    given: command,
  })
