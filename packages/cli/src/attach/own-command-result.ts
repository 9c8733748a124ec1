import type { ConfigRequest } from '@agentproto/contracts/wire'
import { oneLine } from '../render/printable.js'
import type { Settings } from './command-completion.js'
import { type OwnCommandName, type SettingName, settingChoices } from './own-commands.js'

/** What a command of the screen asks the program to do. */
export type CommandAction =
  | { readonly type: 'detach' }
  | { readonly type: 'configure'; readonly request: ConfigRequest }
  | { readonly type: 'diff'; readonly turn?: number }
  /** Asks what a rewind would change; the answer is for `askRewind`. */
  | { readonly type: 'plan-rewind'; readonly turn: number }
  | { readonly type: 'cost' }
  | { readonly type: 'log' }
  | { readonly type: 'help' }

/** What a command leads to: an action, rows for the transcript, or a reason why it cannot be done as it was typed. */
export type CommandResult =
  | { readonly action: CommandAction }
  | { readonly say: readonly string[] }
  | { readonly refused: string }

interface SessionFacts extends Settings {
  /** Number of the last turn that has begun. */
  readonly turnCount: number
}

/** Decides what a command of ours does. `/steer` is not among them: it sends a prompt. */
export function ownCommandResult(
  name: Exclude<OwnCommandName, 'steer'>,
  argument: string,
  session: SessionFacts,
): CommandResult {
  switch (name) {
    case 'mode':
    case 'model':
    case 'permissions':
      return setOrList(name, argument, session)
    case 'diff':
    case 'rewind':
      return aboutTurn(name, argument, session)
    case 'detach':
    case 'quit':
      return { action: { type: 'detach' } }
    case 'cost':
    case 'log':
    case 'help':
      return { action: { type: name } }
  }
}

function setOrList(name: SettingName, argument: string, settings: Settings): CommandResult {
  const choices = settingChoices(name, settings)
  if (choices.length === 0) return { refused: `The agent offers no ${name}.` }
  if (argument === '')
    return { say: choices.map((each) => oneLine(`${each.isCurrent ? '●' : '○'} ${each.id} ${each.name}`)) }
  const choice = choices.find(({ id }) => id === argument)
  if (choice !== undefined) return { action: { type: 'configure', request: choice.request } }
  return { refused: `No such ${name}. There are: ${choices.map(({ id }) => oneLine(id)).join(', ')}` }
}

function aboutTurn(name: 'diff' | 'rewind', argument: string, { turnCount }: SessionFacts): CommandResult {
  if (!/^\d{0,9}$/.test(argument)) return { refused: `/${name} takes the number of a turn.` }
  const turn = argument === '' ? undefined : Number(argument)
  if (name === 'diff') return { action: turn === undefined ? { type: 'diff' } : { type: 'diff', turn } }
  if (turn === undefined && turnCount === 0) return { refused: 'There is no turn to take back.' }
  return { action: { type: 'plan-rewind', turn: turn ?? turnCount - 1 } }
}
