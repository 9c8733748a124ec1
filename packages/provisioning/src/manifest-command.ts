import { AgentprotoError, defined, systemClock } from '@agentproto/contracts'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import { findExecutable } from '@agentproto/subprocess'
import { agentPrefix, findAgent, programFolders } from '@agentproto/driver-agent-cli/installation'
import { commandWords, type Substitutions } from './command-line.js'
import type { ProvisionHost } from './provision-host.js'
import { type CommandEnd, runCommand } from './run-command.js'
import { toolEnvironment } from './tool-environment.js'

/** The context of a manifest's own commands: checks, steps, logins. */
export interface CommandContext {
  readonly adapter: LoadedAgentCli
  readonly host: ProvisionHost
  readonly signal: AbortSignal
  /** Values of secrets and earlier steps, by the variable that carries them. */
  readonly variables: Readonly<Record<string, string>>
}

export interface CommandOptions {
  readonly timeoutMs: number
  readonly values?: Substitutions
  readonly onLine?: (stream: 'stdout' | 'stderr', line: string) => void
}

/** A command of a manifest, ready to be run. */
export interface ReadyCommand {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Splits a command and finds its program. @throws `manifest_invalid`, `agent_not_installed` */
export async function prepareCommand(
  command: string,
  commandContext: CommandContext,
  values?: Substitutions,
): Promise<ReadyCommand> {
  const { adapter, host, signal, variables } = commandContext
  const [program, ...args] = commandWords(command, values)
  const env = toolEnvironment({ manifest: adapter.manifest, host, sandbox: adapter.sandbox, values: variables })
  return { file: await programFile(program, commandContext), args, cwd: host.home, env, signal }
}

/** Runs a command of the manifest to its end, without a terminal. */
export async function runManifestCommand(
  command: string,
  commandContext: CommandContext,
  options: CommandOptions,
): Promise<CommandEnd> {
  const ready = await prepareCommand(command, commandContext, options.values)
  const { timeoutMs, onLine } = options
  const clock = commandContext.host.clock ?? systemClock
  return runCommand({ ...ready, timeoutMs, clock, ...(onLine === undefined ? {} : { onLine }) })
}

/** The agent's own program is the one that is launched; any other program is searched beside it and on PATH. */
async function programFile(name: string, { adapter: { manifest }, host }: CommandContext): Promise<string> {
  const own = name === manifest.bin ? (await findAgent(manifest, host))?.file : undefined
  const file =
    own ??
    (await findExecutable(name, {
      dirs: programFolders(agentPrefix(manifest, host)),
      path: host.env['PATH'] ?? '',
      ...defined({ home: host.env['HOME'], executables: host.executables }),
    }))
  if (file !== undefined) return file
  throw new AgentprotoError(
    'agent_not_installed',
    `The program ${name} of the manifest of ${manifest.id} was not found`,
    {
      expected: `${name} on PATH`,
    },
  )
}

/** How a program ended, in words. */
export function endingOf({ exitCode, signal, timedOut, stderr, stdout }: CommandEnd): string {
  if (timedOut) return 'it took too long'
  const lines = (stderr || stdout).split('\n').map((line) => line.trim())
  const last = lines.findLast((line) => line !== '')
  return `it ended with ${exitCode ?? signal ?? 'no exit code'}${last === undefined ? '' : `: ${last.slice(0, 300)}`}`
}
