import { delimiter } from 'node:path'
import { AgentprotoError, defined, systemClock } from '@agentproto/contracts'
import { declaredVariables } from '@agentproto/manifest'
import { buildEnvironment, findExecutable, healPath } from '@agentproto/subprocess'
import { agentHome, agentPrefix, findAgent, programFolders } from '@agentproto/driver-agent-cli/installation'
import { commandWords, type Substitutions } from './command-line.js'
import type { AgentRecord, AgentVariables } from './agent-record.js'
import type { TerminalProgram } from './provision-host.js'
import { type Command, type CommandEnd, runCommand } from './run-command.js'

/** The context of a manifest's own commands: checks, steps, logins. */
export interface CommandContext extends Pick<AgentRecord, 'adapter' | 'host'>, Pick<AgentVariables, 'variables'> {
  readonly signal: AbortSignal
}

export interface CommandOptions extends Pick<Command, 'timeoutMs' | 'onLine'> {
  readonly values?: Substitutions
}

/** Splits a command and finds its program. @throws `manifest_invalid`, `agent_not_installed` */
export async function prepareCommand(
  command: string,
  commandContext: CommandContext,
  values?: Substitutions,
): Promise<TerminalProgram> {
  const { host, signal } = commandContext
  const [program, ...args] = commandWords(command, values)
  const file = await programFile(program, commandContext)
  return { file, args, cwd: host.home, env: environmentOf(commandContext), signal }
}

/** The agent's environment, with its programs first on PATH. */
export function environmentOf({ adapter, host, variables }: CommandContext): Record<string, string> {
  const { manifest, sandbox } = adapter
  const path = healPath(host.env['PATH'] ?? '', host.env['HOME'])
  return buildEnvironment({
    policy: host.environment ?? 'filtered',
    parent: { ...host.env, PATH: [...programFolders(agentPrefix(manifest, host)), path].join(delimiter) },
    passthrough: declaredVariables(manifest, sandbox),
    // The login must be in the home that the agent uses.
    declared: { ...agentHome(manifest, host)?.variables, ...sandbox.env.set, ...variables },
  })
}

/** Runs a command of the manifest to its end, without a terminal. */
export async function runManifestCommand(
  command: string,
  commandContext: CommandContext,
  { values, ...options }: CommandOptions,
): Promise<CommandEnd> {
  const ready = await prepareCommand(command, commandContext, values)
  return runCommand({ ...ready, ...options, clock: commandContext.host.clock ?? systemClock })
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
