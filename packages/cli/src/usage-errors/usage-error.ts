import { AgentprotoError } from '@agentproto/contracts'
import type { Command } from 'commander'
import { commandLine, isRepeatable } from './command-line.js'
import { candidatesFor } from './suggestions.js'
import { pathOf, unknownWord, type UsageProblem } from './usage-problem.js'

type Line = readonly string[]

/** All commands, and what is wrong with a command line; undefined for one that can be run. */
export interface CommandTree {
  readonly program: Command
  problemOf(argv: Line): Promise<UsageProblem | undefined>
}

/** How many mistakes of one command line are corrected. */
const MAX_MISTAKES = 4

/**
 * The error for a command line that cannot be parsed. It names the corrected command, which can be parsed, or else the
 * command that shows what there is.
 */
export async function usageError(tree: CommandTree, problem: UsageProblem, argv: Line): Promise<AgentprotoError> {
  const lines = await corrected(tree, { problem, argv }, MAX_MISTAKES)
  const meant = lines.map(commandLine).join(', or ')
  return new AgentprotoError('invalid_request', sentence(problem), {
    hint: meant === '' ? lookUp(problem) : `Did you mean: ${meant}?`,
  })
}

interface Mistake {
  readonly problem: UsageProblem
  readonly argv: Line
}

/** The likeliest lines that can be parsed; more than one only where a word has two meanings. */
async function corrected(tree: CommandTree, { problem, argv }: Mistake, left: number): Promise<readonly Line[]> {
  if (left === 0) return []
  const candidates = candidatesFor(tree.program, problem, argv).filter(isRepeatable)
  const found: Line[] = []
  for (const candidate of candidates) {
    const next = await tree.problemOf(candidate)
    const lines = next === undefined ? [candidate] : await correctedNext(tree, { problem: next, argv: candidate }, left)
    found.push(...lines)
    if (found.length > 0 && !isAmbiguous(problem, candidates)) return found.slice(0, 1)
  }
  return found.slice(0, 2)
}

/** A command that is right and only needs more is answered by its help. */
async function correctedNext(tree: CommandTree, { problem, argv }: Mistake, left: number): Promise<readonly Line[]> {
  if (problem.kind === 'missing-argument') return [[...pathOf(problem.command), '--help']]
  return corrected(tree, { problem, argv }, left - 1)
}

/** `sessions stop` may mean two things; other candidates are guesses, of which the first that can be parsed counts. */
const isAmbiguous = ({ command }: UsageProblem, candidates: readonly Line[]): boolean =>
  candidates.length === 2 && unknownWord(command) === 'stop'

function sentence({ kind, command, what }: UsageProblem): string {
  const name = ['agentproto', ...pathOf(command)].join(' ')
  if (kind === 'unknown-command') return `There is no command ${name} ${unknownWord(command) ?? ''}`
  const [, option] = /unknown option '(.*)'/.exec(what) ?? []
  // Its value is not repeated: it may be a token.
  if (kind === 'unknown-option' && option !== undefined) return `${name} has no option ${option.replace(/=.*$/s, '')}`
  const [, argument] = /missing required argument '(.*)'/.exec(what) ?? []
  if (kind === 'missing-argument' && argument !== undefined) return `${name} needs <${argument}>`
  const [, given] = /too many arguments.*but got (\d+)/.exec(what) ?? []
  if (kind === 'excess-arguments' && given !== undefined)
    return `${name} takes ${count(command.registeredArguments.length)}, not ${given}`
  const text = what.replace(/^error: /, '').replace(/\s+/g, ' ')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`.trim()
}

const count = (number: number): string =>
  number === 0 ? 'no argument' : `${number} argument${number === 1 ? '' : 's'}`

/** The command that shows what can be given. */
function lookUp({ kind, command }: UsageProblem): string {
  const path = pathOf(command)
  const missing = kind === 'missing-argument' ? command.registeredArguments[command.args.length]?.name() : undefined
  const list = missing === undefined ? undefined : LISTS[`${path[0]} ${missing}`]
  if (list !== undefined) return `See them with: agentproto ${list}`
  if (kind === 'unknown-command') return `See the commands with: ${['agentproto', ...path, '--help'].join(' ')}`
  return `See its use with: ${['agentproto', ...path, '--help'].join(' ')}`
}

/** By group and argument, what lists the names. */
const LISTS: Readonly<Record<string, string>> = {
  'sessions id': 'sessions',
  'sessions adapter': 'adapters list',
  'run adapter': 'adapters list',
  'adapters slug': 'adapters list',
  'workspace slug': 'workspace list',
  'secrets slug': 'secrets list',
  'config key': 'config list',
}
