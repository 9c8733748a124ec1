import type { Argument, Command, Option } from 'commander'

/** One word that may come next. */
export interface Candidate {
  readonly word: string
  readonly description: string
}

/** Names that are known only at run time. */
export type NameKind = 'session' | 'workspace' | 'adapter' | 'key' | 'secret' | 'gateway'

export interface Completions {
  readonly candidates: readonly Candidate[]
  /** The names of this kind are candidates, too. */
  readonly names?: NameKind | undefined
}

/**
 * What may come next, from the tree of commands.
 * @param words The words after `agentproto`; the last one is being typed, and may be empty
 */
export function completionsFor(program: Command, words: readonly string[]): Completions {
  const typed = words.at(-1) ?? ''
  const place = placeOf(program, words.slice(0, -1))
  const { candidates, names } = place.option === undefined ? atPlace(place, typed) : ofOption(place.option)
  return { candidates: candidates.filter(({ word }) => word.startsWith(typed)), names }
}

interface Place {
  readonly command: Command
  /** How many arguments precede the word. */
  readonly given: number
  /** The option whose value comes next. */
  readonly option: Option | undefined
}

function placeOf(program: Command, words: readonly string[]): Place {
  let command = program
  let given = 0
  let option: Option | undefined
  for (const word of words) {
    if (option !== undefined) {
      option = undefined
      continue
    }
    const child = given === 0 ? command.commands.find((each) => each.name() === word) : undefined
    if (child !== undefined) command = child
    else if (word.startsWith('-'))
      option = command.options.find((each) => takesValue(each) && (each.long === word || each.short === word))
    else given += 1
  }
  return { command, given, option }
}

const takesValue = ({ required, optional }: Option): boolean => required || optional

function atPlace({ command, given }: Place, typed: string): Completions {
  if (typed.startsWith('-')) {
    const options = command.options
      .filter(({ hidden }) => !hidden)
      .map(({ long, short, description }) => ({ word: long ?? short ?? '', description }))
    return { candidates: [...options, { word: '--help', description: 'print help' }] }
  }
  const commands = given === 0 ? command.createHelp().visibleCommands(command) : []
  const children = commands
    .filter((child) => child.name() !== 'help')
    .map((child) => ({ word: child.name(), description: child.description() }))
  const argument = command.registeredArguments[given] ?? lastVariadic(command)
  const names = ARGUMENT_NAMES[`${command.parent?.name() ?? ''} ${argument?.name() ?? ''}`]
  return { candidates: [...children, ...choicesOf(argument?.argChoices)], names }
}

function lastVariadic(command: Command): Argument | undefined {
  const last = command.registeredArguments.at(-1)
  return last?.variadic === true ? last : undefined
}

const ofOption = ({ long, argChoices }: Option): Completions => ({
  candidates: choicesOf(argChoices),
  names: OPTION_NAMES[long ?? ''],
})

const choicesOf = (choices: readonly string[] | undefined): Candidate[] =>
  (choices ?? []).map((word) => ({ word, description: '' }))

/** By the parent of the command and the name of its argument. */
const ARGUMENT_NAMES: Readonly<Record<string, NameKind>> = {
  'sessions id': 'session',
  'agentproto session': 'session',
  'sessions adapter': 'adapter',
  'agentproto adapter': 'adapter',
  'adapters slug': 'adapter',
  'workspace slug': 'workspace',
  'config key': 'key',
  'secrets slug': 'secret',
  'remote url': 'gateway',
}
const OPTION_NAMES: Readonly<Record<string, NameKind>> = {
  '--attach': 'session',
  '--session': 'session',
  '--workspace': 'workspace',
  '--adapter': 'adapter',
  '--remote': 'gateway',
}
