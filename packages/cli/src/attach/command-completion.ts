import type { AgentCommand } from '@agentproto/contracts'
import { oneLine } from '../render/printable.js'

/** The commands of the attach screen itself. */
const OWN: readonly AgentCommand[] = [{ name: 'detach', description: 'exit; the session keeps running' }]

/** Completion of a slash command, of the agent or of the screen. */
export interface Completion {
  /** The common start of all matching commands. */
  readonly text: string
  readonly matching: readonly AgentCommand[]
}

/** @returns undefined for a line that is not a command, or whose command is complete */
export function completeCommand(line: string, agents: readonly AgentCommand[]): Completion | undefined {
  if (!/^\/\S*$/.test(line)) return undefined
  const typed = line.slice(1)
  const matching = [...agents, ...OWN].filter(({ name }) => name.startsWith(typed))
  const [only, second] = matching
  if (only === undefined) return { text: line, matching }
  if (second === undefined) return { text: `/${only.name} `, matching }
  return { text: `/${commonStart(matching.map(({ name }) => name))}`, matching }
}

/** The matching commands on one line; a single one with its description. */
export function commandHint({ matching }: Completion): string {
  const [only, second] = matching
  if (only === undefined) return 'Not a command; it is sent as a prompt.'
  if (second !== undefined) return matching.map(({ name }) => `/${oneLine(name)}`).join('  ')
  const hint = only.hint === undefined ? '' : ` <${only.hint}>`
  return `${oneLine(`/${only.name}${hint}`)}  ${oneLine(only.description)}`
}

function commonStart([first = '', ...rest]: readonly string[]): string {
  let end = first.length
  for (const name of rest) while (!name.startsWith(first.slice(0, end))) end -= 1
  return first.slice(0, end)
}
