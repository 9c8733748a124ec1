import type { Command } from 'commander'
import { nearest } from './nearest.js'
import { MEANT_ARGUMENTS, MEANT_OPTIONS, MEANT_WORDS, OTHER_WORDS } from './other-words.js'
import { pathOf, unknownWord, type UsageProblem } from './usage-problem.js'

type Line = readonly string[]

/**
 * The command line that words of other tools stand for.
 * @param sessionVerbs The commands of `sessions`, whose name may be left out
 */
export function meaningOf(problem: UsageProblem, argv: Line, sessionVerbs: readonly string[]): Line | undefined {
  const { at, word } = placeOf(problem, argv)
  if (word === undefined) return undefined
  const group = pathOf(problem.command).join(' ')
  const [next = '', ...afterNext] = argv.slice(at + 1)
  // `kill session try` does not kill the session with the label `session`.
  if (group === '' && isNoun(problem.command, next)) return undefined
  const words = OTHER_WORDS[group] ?? {}
  const withOption = own(words, `${word} ${next}`)
  const stands = withOption ?? own(words, word) ?? verbOf(group, { word, sessionVerbs })
  if (stands === undefined) return undefined
  const rest = withOption === undefined ? argv.slice(at + 1) : afterNext
  return [...argv.slice(0, at), ...(asksForHelp(rest) ? withoutOptions(stands) : stands), ...rest]
}

const verbOf = (group: string, { word, sessionVerbs }: { word: string; sessionVerbs: Line }): Line | undefined =>
  group === '' && sessionVerbs.includes(word) ? ['sessions', word] : undefined

const asksForHelp = (words: Line): boolean => words.includes('--help') || words.includes('-h')

/** `--attach --help` would attach to a session with that name. */
const withoutOptions = (words: Line): Line => words.filter((word) => !word.startsWith('-'))

function own<T>(words: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(words, word) ? words[word] : undefined
}

/** Whether a word names a group, also in singular or plural. */
const isNoun = (program: Command, word: string): boolean =>
  [word, ...(own(OTHER_WORDS[''] ?? {}, word) ?? [])].some((name) => {
    const group = commandNamed(program, name)
    return group !== undefined && (group.commands.length > 0 || name === 'sessions' || name === 'adapters')
  })

/**
 * Command lines that may be meant by one that cannot be parsed, the likeliest first. They are not checked.
 * @param program All commands
 */
export function candidatesFor(program: Command, problem: UsageProblem, argv: Line): readonly Line[] {
  // A value on its command line is a secret, which must not be repeated.
  if (pathOf(problem.command).join(' ') === 'secrets set') return []
  switch (problem.kind) {
    case 'unknown-command':
      return forUnknownCommand(program, problem, argv)
    case 'unknown-option':
      return forUnknownOption(problem, argv)
    case 'excess-arguments':
      return forExcessArguments(problem, argv)
    case 'invalid-value':
      return forInvalidValue(problem, argv)
    case 'missing-argument':
    case 'other':
      return []
    default:
      return problem.kind satisfies never
  }
}

interface Place {
  /** Where the words after the command begin. */
  readonly from: number
  /** Where the unknown word is. */
  readonly at: number
  readonly word: string | undefined
}

function placeOf({ command }: UsageProblem, argv: Line): Place {
  let from = 0
  for (const name of pathOf(command)) from = argv.indexOf(name, from) + 1
  const word = unknownWord(command)
  return { from, at: word === undefined ? from : argv.indexOf(word, from), word }
}

function forUnknownCommand(program: Command, problem: UsageProblem, argv: Line): readonly Line[] {
  const { at, word = '' } = placeOf(problem, argv)
  const path = pathOf(problem.command)
  const given: Given = { before: argv.slice(0, at), word, rest: argv.slice(at + 1) }
  const meant = own(MEANT_WORDS[path.join(' ')] ?? {}, word)?.(given.rest) ?? []
  if (meant.length > 0) return meant
  const near = inGroup(given, { names: namesBelow(problem.command), others: otherWords(path) })
  return path.length > 0 ? near : [...verbFirst(program, given), ...near, ...verbs(program, given)]
}

/** The unknown word, and what is around it. */
interface Given {
  readonly before: Line
  readonly word: string
  readonly rest: Line
}

function inGroup(
  { before, word, rest }: Given,
  { names, others }: { readonly names: Line; readonly others: Line },
): readonly Line[] {
  const [next = '', ...afterNext] = rest
  return [
    // `sessions try show`, `demo run`: the verb comes last.
    ...(names.includes(next) ? [[...before, next, word, ...afterNext]] : []),
    ...[...similar(word, names), ...similar(word, others)].map((name) => [...before, name, ...rest]),
  ]
}

/** `list adapters`, `kill session try`. */
function verbFirst(program: Command, { word, rest: [next = '', ...rest] }: Given): readonly Line[] {
  const group = groupNamed(program, next)
  return group === undefined ? [] : [[group, word, ...rest]]
}

/** A command of a group without its group: `strat demo`, `try show`, `trust shop`. */
function verbs(program: Command, { word, rest }: Given): readonly Line[] {
  const [next = '', ...afterNext] = rest
  const ofSessions = namesBelow(commandNamed(program, 'sessions'))
  return [
    ...similar(word, ofSessions).map((name) => ['sessions', name, ...rest]),
    ...(ofSessions.includes(next) ? [['sessions', next, word, ...afterNext]] : []),
    ...groupsWith(program, word).map((name) => [name, word, ...rest]),
  ]
}

const similar = (word: string, names: readonly string[]): readonly string[] => {
  const name = nearest(word, names)
  return name === undefined ? [] : [name]
}

const otherWords = (path: Line): readonly string[] => Object.keys(OTHER_WORDS[path.join(' ')] ?? {})

const namesBelow = (command: Command | undefined): readonly string[] =>
  command === undefined
    ? []
    : command
        .createHelp()
        .visibleCommands(command)
        .map((child) => child.name())
        .filter((name) => name !== 'help')

const commandNamed = (program: Command, name: string): Command | undefined =>
  program.commands.find((command) => command.name() === name)

/** The group that a noun names, also in singular or plural. */
function groupNamed(program: Command, noun: string): string | undefined {
  const stands = own(OTHER_WORDS[''] ?? {}, noun)?.[0]
  const name = [noun, stands].find((each) => each !== undefined && commandNamed(program, each) !== undefined)
  return name !== undefined && namesBelow(commandNamed(program, name)).length > 0 ? name : undefined
}

const groupsWith = (program: Command, verb: string): readonly string[] =>
  program.commands.filter((group) => namesBelow(group).includes(verb)).map((group) => group.name())

function forUnknownOption(problem: UsageProblem, argv: Line): readonly Line[] {
  const { from } = placeOf(problem, argv)
  const { command } = problem
  const at = argv.findIndex((word, index) => index >= from && isUnknownOption(command, word))
  const [given = ''] = argv.slice(at)
  if (at < 0) return []
  const [before, rest] = [argv.slice(0, at), argv.slice(at + 1)]
  const [flag = '', ...value] = given.split('=')
  const written = value.length === 0 ? '' : `=${value.join('=')}`
  const longs = command.options.flatMap(({ long, hidden }) => (long === undefined || hidden ? [] : [long]))
  const whole = own(MEANT_OPTIONS, given)
  const known = own(MEANT_OPTIONS, flag)
  const name = nearest(flag.startsWith('--') ? flag : `-${flag}`, longs)
  return [
    // `--json sessions`: options come after the command.
    ...(rest.some((word) => !word.startsWith('-')) && command.commands.length > 0 ? [[...before, ...rest, given]] : []),
    ...(whole === undefined ? [] : [[...before, ...whole, ...rest]]),
    ...(known === undefined ? [] : [[...before, ...known.slice(0, -1), `${known.at(-1)}${written}`, ...rest]]),
    ...(name === undefined ? [] : [[...before, `${name}${written}`, ...rest]]),
  ]
}

const isUnknownOption = ({ options }: Command, word: string): boolean =>
  word.startsWith('-') &&
  word !== '-' &&
  !options.some(({ long, short }) => long === word.split('=')[0] || (short !== undefined && short === word))

/** Words of a text without quotes, a prompt that is no argument, or the argument of a similar command. */
function forExcessArguments(problem: UsageProblem, argv: Line): readonly Line[] {
  const { command } = problem
  const { from } = placeOf(problem, argv)
  const { registeredArguments: known, args } = command
  const meant = own(MEANT_ARGUMENTS, pathOf(command).join(' '))?.(args) ?? []
  const operands = new Set(args)
  const options = argv.slice(from).filter((word) => !operands.has(word))
  const path = argv.slice(0, from)
  /** The first arguments as they are, and one text of all others. */
  const joined = (kept: number, ...before: Line): Line => [
    ...path,
    ...args.slice(0, kept),
    ...before,
    args.slice(kept).join(' '),
    ...options,
  ]
  const takesPrompt = command.options.some(({ long }) => long === '--prompt')
  const asPrompt = takesPrompt ? [joined(known.length, '--prompt')] : []
  const asText = TEXTS.has(known.at(-1)?.name() ?? '') ? [joined(known.length - 1)] : asPrompt
  return [...meant.map((line) => [...line, ...options]), ...meant, ...asText]
}

/** The arguments that are sentences. */
const TEXTS = new Set(['text', 'prompt'])

/** The nearest of the values that an option takes. */
function forInvalidValue({ what }: UsageProblem, argv: Line): readonly Line[] {
  const [, given, choices] = /(?:argument|value) '(.*?)' is invalid.* Allowed choices are (.*)\.$/.exec(what) ?? []
  if (given === undefined || choices === undefined) return []
  const value = nearest(given.toLowerCase(), choices.split(', '))
  const at = argv.findLastIndex((word) => word === given || word.endsWith(`=${given}`))
  const word = argv[at]
  if (value === undefined || word === undefined) return []
  return [[...argv.slice(0, at), `${word.slice(0, word.length - given.length)}${value}`, ...argv.slice(at + 1)]]
}
