import { systemClock } from '@agentproto/contracts'
import { buildEnvironment, healPath } from '@agentproto/subprocess'
import type { AgentHost } from '@agentproto/driver-agent-cli'
import { type Command, type CommandEnd, runCommand } from './run-command.js'

type Tool = Pick<Command, 'file' | 'args' | 'timeoutMs' | 'signal' | 'onLine'> & Partial<Pick<Command, 'cwd' | 'env'>>

/** Runs an installer, or another tool of the host's, to its end. @param tool its `env` is added to the installer's */
export const runTool = (tool: Tool, host: AgentHost): Promise<CommandEnd> =>
  runCommand({
    cwd: host.home,
    clock: host.clock ?? systemClock,
    ...tool,
    env: { ...installerEnvironment(host), ...tool.env },
  })

/** The environment of an installer: filtered, without secrets, because it runs third-party code. */
function installerEnvironment(host: AgentHost): Record<string, string> {
  return buildEnvironment({
    policy: 'filtered',
    parent: { ...host.env, PATH: healPath(host.env['PATH'] ?? '', host.env['HOME']) },
  })
}
