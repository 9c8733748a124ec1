import type { Session } from '@agentproto/client'

/** A slash command that the agent offers. */
export type AgentCommand = NonNullable<NonNullable<Session['config']>['commands']>[number]

/** The commands that a prompt which is being written may become; none once the name is whole and followed by a space. */
export function matchingCommands(commands: readonly AgentCommand[], text: string): readonly AgentCommand[] {
  const [, begun] = /^\/(\S*)$/.exec(text) ?? []
  if (begun === undefined) return []
  const word = begun.toLowerCase()
  return commands.filter(({ name }) => nameOf(name).toLowerCase().startsWith(word))
}

/** The prompt with the name of a command in it, ready for what follows the name. */
export const promptOf = ({ name }: AgentCommand): string => `/${nameOf(name)} `

/** Some agents report their names with the slash. */
const nameOf = (name: string): string => name.replace(/^\//, '')
