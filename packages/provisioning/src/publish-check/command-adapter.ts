import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'
import { formatProblem, manifestTemplate } from '@agentproto/manifest'
import { type LoadedAgentCli, readAgentCli } from '@agentproto/manifest/node'
import { findExecutable } from '@agentproto/subprocess'
import type { ProvisionHost } from '../provision-host.js'

/** A command that starts an agent, for which there is no manifest. */
export interface AgentCommandLine {
  /** The program, and its arguments; never run by a shell. */
  readonly command: readonly [string, ...string[]]
  /** Folder that a relative program, and files among the arguments, are in. */
  readonly cwd: string
}

export interface CommandAdapter {
  readonly adapter: LoadedAgentCli
  /** Where its program is. */
  readonly executables: Readonly<Record<string, string>>
}

const ID = 'checked-agent'

/**
 * Writes a manifest for a command into a folder, and reads it.
 * @throws `agent_not_installed`
 */
export async function commandAdapter(
  { command: [name, ...args], cwd }: AgentCommandLine,
  folder: string,
  { env }: Pick<ProvisionHost, 'env'>,
): Promise<CommandAdapter> {
  const file = await findExecutable(name.includes('/') ? resolve(cwd, name) : name, { path: env['PATH'] ?? '' })
  if (file === undefined)
    throw new AgentprotoError('agent_not_installed', `${name} was not found`, {
      expected: 'a program on PATH, or a path',
    })
  const at = join(folder, ID)
  await mkdir(at)
  const command: readonly [string, ...string[]] = [ID, ...args.map((arg) => wholePath(arg, cwd))]
  for (const [manifest, text] of manifestTemplate({ id: ID, protocol: 'acp', command }))
    await writeFile(join(at, manifest), text)
  const read = await readAgentCli(at)
  if (!read.ok) throw new AgentprotoError('manifest_invalid', read.problems.map(formatProblem).join('\n'))
  return { adapter: read, executables: { [ID]: file } }
}

/** The agent is started in another folder: `node ./agent.mjs` would not find its file there. */
function wholePath(argument: string, cwd: string): string {
  const path = resolve(cwd, argument)
  return !argument.startsWith('-') && existsSync(path) ? path : argument
}
