import { type AgentCommand, type AgentConfig, PERMISSION_MODES } from '@agentproto/contracts'
import type { ConfigRequest } from '@agentproto/contracts/wire'

/**
 * The commands of the attach screen. `/help` and docs/attach.md have this table; a test compares them. An agent may have a
 * command of the same name, which then wins, except over those that leave the screen.
 */
export const OWN_COMMANDS = [
  { name: 'steer', hint: 'text', description: 'interrupt the turn and send this now' },
  { name: 'mode', hint: 'id', description: 'list the modes of the agent, or set one' },
  { name: 'model', hint: 'id', description: 'list the models of the agent, or set one' },
  { name: 'permissions', hint: 'mode', description: 'list how requests are answered, or set it' },
  { name: 'diff', hint: 'turn', description: 'show what the session changed in its folder, or what one turn did' },
  { name: 'rewind', hint: 'turn', description: 'set the files back to the end of a turn; default before the last one' },
  { name: 'cost', description: 'show what the session used' },
  { name: 'log', description: 'show the whole log in the pager' },
  { name: 'help', description: 'show the keys and commands' },
  { name: 'detach', description: 'exit; the session keeps running' },
  { name: 'quit', description: 'the same as /detach' },
] as const satisfies readonly AgentCommand[]
export type OwnCommandName = (typeof OWN_COMMANDS)[number]['name']

/** What a line asks for that begins with a slash. */
export type SlashLine =
  | { readonly kind: 'own'; readonly name: OwnCommandName; readonly argument: string }
  /** A command of the agent that has the name of one of ours. */
  | { readonly kind: 'agents'; readonly name: string }

/** Reads `/name argument`, and `//name argument`, which is always ours. @returns undefined for any other line */
export function readSlashLine(line: string, agents: readonly AgentCommand[]): SlashLine | undefined {
  const [, slashes, typed, argument = ''] = /^(\/\/?)(\S+)(?:\s+([\s\S]*))?$/.exec(line) ?? []
  const own = OWN_COMMANDS.find(({ name }) => name === typed)
  if (own === undefined) return undefined
  if (slashes === '/' && isTakenBy(agents, own.name)) return { kind: 'agents', name: own.name }
  return { kind: 'own', name: own.name, argument: argument.trim() }
}

/** Whether the agent's command wins over ours. It never hides the way out. */
export const isTakenBy = (agents: readonly AgentCommand[], name: OwnCommandName): boolean =>
  name !== 'detach' && name !== 'quit' && agents.some((each) => each.name === name)

/** The commands that set one value of a list. */
export type SettingName = 'mode' | 'model' | 'permissions'

/** One value that a setting can have, and the request that sets it. */
export interface SettingChoice {
  readonly id: string
  readonly name: string
  readonly isCurrent: boolean
  readonly request: ConfigRequest
}

/** The values that a setting can have; none if the agent has no such setting. */
export function settingChoices(
  name: SettingName,
  { config, permissionMode }: { readonly config: AgentConfig; readonly permissionMode: string },
): readonly SettingChoice[] {
  const { modes = [], modeId, models = [], modelId } = config
  switch (name) {
    case 'mode':
      return modes.map((each) => ({ ...each, isCurrent: each.id === modeId, request: { mode: each.id } }))
    case 'model':
      return models.map((each) => ({ ...each, isCurrent: each.id === modelId, request: { model: each.id } }))
    case 'permissions':
      return PERMISSION_MODES.map((id) => ({
        id,
        name: '',
        isCurrent: id === permissionMode,
        request: { permissionMode: id },
      }))
  }
}

/** Whether the command sets one value of a list. */
export const isSetting = (name: OwnCommandName): name is SettingName =>
  name === 'mode' || name === 'model' || name === 'permissions'
