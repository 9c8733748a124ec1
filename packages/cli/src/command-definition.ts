import { PERMISSION_MODES, type PermissionMode } from '@agentproto/contracts'
import { CONTINUATION_STRATEGIES, type ContinuationStrategy } from '@agentproto/contracts/agent'
import type { PromptRequest } from '@agentproto/contracts/wire'
import { InvalidArgumentError, Option } from 'commander'
import type { CliCommand } from './cli-command.js'

/** What the files of `commands/` are made of: the options that several share, and parsers of values. */

export interface JsonOption {
  readonly json?: boolean
}

export type OptionValues = Readonly<Record<string, string | number | boolean>>

/** The options of every command that starts an agent. */
export interface AgentOptions {
  readonly continuation?: ContinuationStrategy
  readonly instructions?: string
  readonly envelope?: boolean
  readonly cwd?: string
  readonly mode?: string
  readonly option: OptionValues
  readonly permissions?: PermissionMode
}

export const permissionsOption = (): Option =>
  new Option('--permissions <mode>', 'how permission requests are answered').choices([...PERMISSION_MODES])

export const agentOption = (): Option =>
  new Option('-o, --option <key=value>', "set one of the adapter's options; repeatable")
    .argParser(addOptionValue)
    .default({}, 'none')

/** The options of `run` and `sessions start` that say how the agent runs. */
export const addAgentOptions = (command: CliCommand, permissions = permissionsOption()): CliCommand =>
  command
    .option('--mode <id>', "one of the adapter's modes")
    .option('--instructions <text>', 'instructions for the whole conversation; @file reads a file')
    .option('--envelope', 'describe the session to the agent: its id, workspace, limits and delegation')
    .addOption(agentOption())
    .addOption(permissions)
    .addOption(continuationOption())

export const continuationOption = (): Option =>
  new Option(
    '--continuation <strategy>',
    'how the conversation is continued; the adapter must support the strategy',
  ).choices([...CONTINUATION_STRATEGIES])

export type WhenBusy = NonNullable<PromptRequest['whenBusy']>

export type OutputMode = 'text' | 'json' | 'jsonl' | 'quiet'

export const outputOption = (description = 'format of stdout'): Option =>
  new Option('--output <mode>', description).choices(['text', 'json', 'jsonl', 'quiet']).default('text')

/** Collects `key=value` of a repeatable option. */
export function addOptionValue(text: string, before: OptionValues = {}): OptionValues {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('Write it as key=value.')
  return { ...before, [text.slice(0, at)]: scalar(text.slice(at + 1)) }
}

/** `true`, `false` and numbers become booleans and numbers. Quotes keep a value a string. */
function scalar(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  return /^".*"$/.test(text) ? text.slice(1, -1) : text
}

/** A parser of numbers. @param wanted Ends the sentence that refuses any other */
export const numberThat =
  (isWanted: (value: number) => boolean, wanted: string) =>
  (text: string): number => {
    const value = Number(text)
    if (isWanted(value)) return value
    throw new InvalidArgumentError(`Write a ${wanted}.`)
  }

/** A timer that is longer fires at once. */
const MAX_SECONDS = 2_147_483

export const toSeconds = numberThat(
  (value) => value > 0 && value <= MAX_SECONDS,
  `positive number of seconds, at most ${MAX_SECONDS}`,
)
export const toCount = numberThat((value) => Number.isInteger(value) && value >= 0, 'whole number, 0 or more')
export const toPort = numberThat(
  (value) => Number.isInteger(value) && value >= 0 && value <= 65_535,
  'whole number from 0 to 65535',
)
