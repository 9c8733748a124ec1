import {
  CONTINUATION_STRATEGIES,
  type ContinuationStrategy,
  PERMISSION_MODES,
  type PermissionMode,
  type PromptRequest,
  RULE_LIFETIMES,
} from '@agentproto/contracts'
import { InvalidArgumentError, Option } from 'commander'
import { SORT_KEYS } from '../render/session-order.js'

export type OptionValues = Readonly<Record<string, string | number | boolean>>

/** `--permissions`, the same wherever an agent is started. */
export const permissionsOption = (): Option =>
  new Option('--permissions <mode>', 'how permission requests are answered').choices([...PERMISSION_MODES])

export const rememberOption = (): Option =>
  new Option('--remember <lifetime>', 'make a rule of it, for later calls like this one').choices([...RULE_LIFETIMES])

/** `--option key=value`, repeatable. */
export const adapterOption = (): Option =>
  new Option('-o, --option <key=value>', "value for one of the adapter's options; repeatable")
    .argParser(addOptionValue)
    .default({}, 'none')

/** `--input step=value`, repeatable: answers to setup steps. */
export const inputOption = (): Option =>
  new Option('--input <step=value>', 'answer to a setup step; repeatable').argParser(addOptionValue).default({}, 'none')

export type WhenBusy = NonNullable<PromptRequest['whenBusy']>

export const whenBusyOption = (): Option =>
  new Option('--when-busy <what>', 'while a turn runs: refuse, wait for its end, or interrupt it')
    .choices(['reject', 'queue', 'interrupt'])
    .default('reject')

export const sortOption = (): Option =>
  new Option('--sort <column>', 'what the list is sorted by, also at first in --watch').choices([...SORT_KEYS])

/** `--instructions`, the same wherever an agent is started. */
export const instructionsOption = (): Option =>
  new Option('--instructions <text>', 'what the agent is to keep to in all of the conversation; @file reads a file')

/** `--continuation`, the same wherever an agent is started. */
export const continuationOption = (): Option =>
  new Option(
    '--continuation <strategy>',
    'how its conversation is taken up again, of those that the adapter supports',
  ).choices([...CONTINUATION_STRATEGIES])

export interface AgentOptions {
  readonly continuation?: ContinuationStrategy
  readonly instructions?: string
  readonly cwd?: string
  readonly mode?: string
  readonly option: OptionValues
  readonly permissions?: PermissionMode
}

function addOptionValue(text: string, before: OptionValues = {}): OptionValues {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('Write it as key=value.')
  return { ...before, [text.slice(0, at)]: scalar(text.slice(at + 1)) }
}

/** `true`, `false` and numbers are meant as such; a quoted text stays one. */
function scalar(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  return /^".*"$/.test(text) ? text.slice(1, -1) : text
}

/** A span in seconds, as a positive number. */
export function toSeconds(text: string): number {
  const seconds = Number(text)
  if (Number.isFinite(seconds) && seconds > 0) return seconds
  throw new InvalidArgumentError('It is a positive number of seconds.')
}

export function toCount(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 0) return count
  throw new InvalidArgumentError('It is a whole number, 0 or more.')
}
