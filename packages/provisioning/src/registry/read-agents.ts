import { type EntrySource, readRegistryFile, type RegistryEntry, type RegistryProblem } from '@agentproto/acp-registry'
import { AgentprotoError, defined } from '@agentproto/contracts'
import type { RegistryState } from '@agentproto/contracts/wire'
import { isAbsolute } from 'node:path'
import type { ReadChoice, RegistryParts } from './registry-parts.js'

/** The agents of a registry or of a file, and where they were read. */
export interface ReadAgents {
  readonly source: EntrySource
  readonly agents: readonly RegistryEntry[]
  readonly state: RegistryState
}

/** @throws `registry_unavailable`, `registry_invalid`, `path_invalid`, `cancelled` */
export async function readAgents(
  { mode, from }: ReadChoice,
  { openRegistry }: Pick<RegistryParts, 'openRegistry'>,
  signal: AbortSignal | undefined,
): Promise<ReadAgents> {
  if (from !== undefined) return readFile(from)
  const reader = await openRegistry()
  const { url, agents, problems, confirmedAt, ageMs, warning } = await reader.read(defined({ mode, signal }))
  const state = { confirmedAt: new Date(confirmedAt).toISOString(), ageMs, ...defined({ warning }) }
  return {
    source: { url },
    agents,
    state: { source: url, agents: agents.length, problems: textsOf(problems), ...state },
  }
}

async function readFile(file: string): Promise<ReadAgents> {
  if (!isAbsolute(file))
    throw new AgentprotoError('path_invalid', 'The file of the registry is not named by its whole path', {
      expected: 'an absolute path',
      given: file,
    })
  const { agents, problems } = await readRegistryFile(file)
  const state = { source: file, agents: agents.length, problems: textsOf(problems) }
  return { source: { file }, agents, state }
}

const textsOf = (problems: readonly RegistryProblem[]): readonly string[] =>
  problems.map(({ index, id, message }) => `${id ?? `entry ${index + 1}`}: ${message}`)
