import type { Argument, Command, Option } from 'commander'

/** One word that may come next. */
export interface Candidate {
  readonly word: string
  readonly description: string
}

/** Things that are named on the command line and known only when it is typed. */
export type Noun = 'session' | 'workspace' | 'adapter' | 'key' | 'secret'

/** What the tree of commands knows of the word that is being typed. */
export interface Completing {
  readonly candidates: readonly Candidate[]
  /** Names of these are candidates, too. */
  readonly noun?: Noun
}

/**
 * What may come next.
 * @param words The words after `agentproto`; the last one is being typed, and may be empty
 */
export function completing(program: Command, words: readonly string[]): Completing {
  const typed = words.at(-1) ?? ''
  const place = placeOf(program, words.slice(0, -1))
  const offered = place.option === undefined ? offeredBy(place, typed) : ofOption(place.option)
  return { ...offered, candidates: offered.candidates.filter(({ word }) => word.startsWith(typed)) }
}

interface Place {
  readonly command: Command
  /** Arguments that are given already. */
  readonly given: number
  /** The option whose value comes next. */
  readonly option?: Option
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
  return { command, given, ...(option === undefined ? {} : { option }) }
}

const takesValue = ({ required, optional }: Option): boolean => required || optional

function offeredBy({ command, given }: Place, typed: string): Completing {
  if (typed.startsWith('-')) {
    const options = command.options
      .filter(({ hidden }) => !hidden)
      .map(({ long, short, description }) => ({
        word: long ?? short ?? '',
        description,
      }))
    return { candidates: [...options, { word: '--help', description: 'print help' }] }
  }
  const commands = given === 0 ? command.createHelp().visibleCommands(command) : []
  const children = commands
    .filter((child) => child.name() !== 'help')
    .map((child) => ({ word: child.name(), description: child.description() }))
  const argument = command.registeredArguments[given] ?? lastVariadic(command)
  return { ...ofArgument(command, argument), candidates: [...children, ...choicesOf(argument?.argChoices)] }
}

function lastVariadic(command: Command): Argument | undefined {
  const last = command.registeredArguments.at(-1)
  return last?.variadic === true ? last : undefined
}

function ofArgument(command: Command, argument: Argument | undefined): { readonly noun?: Noun } {
  const noun = argument === undefined ? undefined : NOUNS[`${command.parent?.name() ?? ''} ${argument.name()}`]
  return noun === undefined ? {} : { noun }
}

function ofOption(option: Option): Completing {
  const noun = OPTION_NOUNS[option.long ?? '']
  return { candidates: choicesOf(option.argChoices), ...(noun === undefined ? {} : { noun }) }
}

const choicesOf = (choices: readonly string[] | undefined): Candidate[] =>
  (choices ?? []).map((word) => ({ word, description: '' }))

/** By the group of the command and the name of its argument. */
const NOUNS: Readonly<Record<string, Noun>> = {
  'sessions id': 'session',
  'sessions adapter': 'adapter',
  'agentproto adapter': 'adapter',
  'adapters slug': 'adapter',
  'workspace slug': 'workspace',
  'config key': 'key',
  'secrets slug': 'secret',
}
const OPTION_NOUNS: Readonly<Record<string, Noun>> = {
  '--attach': 'session',
  '--session': 'session',
  '--workspace': 'workspace',
  '--adapter': 'adapter',
}
