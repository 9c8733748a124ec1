import type { AgentCommand, AgentConfig } from '@agentproto/contracts'
import { oneLine, printable } from '../render/printable.js'
import { isSetting, isTakenBy, OWN_COMMANDS, readSlashLine, settingChoices } from './own-commands.js'

/** What can be completed now. */
export interface Settings {
  readonly config: AgentConfig
  readonly permissionMode: string
}

/** Completion of a slash command, of the agent or of the screen, or of its argument. */
export interface Completion {
  /** The common start of all that match. */
  readonly text: string
  readonly matching: readonly Candidate[]
}

interface Candidate {
  /** The whole line, without a space after it. */
  readonly line: string
  /** The argument that it takes. */
  readonly hint: string
  readonly description: string
}

/** @returns undefined for a line that is not a command, or whose command is complete and takes no value of a list */
export function completeCommand(line: string, settings: Settings): Completion | undefined {
  if (/^\/\/?\S*$/.test(line)) return completed(line, commandsFor(line, settings))
  const values = valuesFor(line, settings)
  return values && completed(line, values)
}

/** All that match on one line; a single one with its description. */
export function commandHint({ matching }: Completion): string {
  const [only, second] = matching
  if (only === undefined) return 'Not a command; it is sent as a prompt.'
  if (second === undefined) return `${oneLine(only.line + only.hint)}  ${oneLine(only.description)}`
  return matching.map(({ line }) => oneLine(line.replace(/^.* /, ''))).join('  ')
}

function completed(line: string, all: readonly Candidate[]): Completion {
  const matching = all.filter((each) => each.line.startsWith(line))
  const [only, second] = matching
  if (only === undefined) return { text: line, matching }
  if (second === undefined) return { text: `${lineOf(only)} `, matching }
  return { text: commonStart(matching.map(lineOf)), matching }
}

const lineOf = ({ line }: Candidate): string => line

function commandsFor(line: string, { config }: Settings): Candidate[] {
  const agents = (config.commands ?? []).filter(isTypable)
  const own = OWN_COMMANDS.filter(({ name }) => line.startsWith('//') || !isTakenBy(agents, name))
  if (line.startsWith('//')) return own.map((each) => candidate('//', each))
  const kept = agents.filter(
    ({ name }) => !OWN_COMMANDS.some((each) => each.name === name) || !own.some((each) => each.name === name),
  )
  return [...kept, ...own].map((each) => candidate('/', each))
}

const candidate = (slashes: string, { name, description, hint }: AgentCommand): Candidate => ({
  line: `${slashes}${name}`,
  hint: hint === undefined ? '' : ` <${hint}>`,
  description,
})

/** An agent may name a command anything. What cannot be typed, or would not be shown as it is, is not completed. */
const isTypable = ({ name }: AgentCommand): boolean => name !== '' && !/\s/.test(name) && printable(name) === name

function valuesFor(line: string, settings: Settings): Candidate[] | undefined {
  const command = /^(\/\/?)(\S+) \S*$/.exec(line)
  const read = command && readSlashLine(line, settings.config.commands ?? [])
  if (!read || read.kind !== 'own' || !isSetting(read.name)) return undefined
  const start = `${command[1] ?? ''}${read.name} `
  return settingChoices(read.name, settings).map(({ id, name, isCurrent }) => ({
    line: start + id,
    hint: '',
    description: name + (isCurrent ? ' (current)' : ''),
  }))
}

function commonStart([first = '', ...rest]: readonly string[]): string {
  let end = first.length
  for (const line of rest) while (!line.startsWith(first.slice(0, end))) end -= 1
  return first.slice(0, end)
}
