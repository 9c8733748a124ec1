import { systemClock } from '@agentproto/contracts'
import { buildEnvironment, healPath, SESSION_MARKER } from '@agentproto/subprocess'
import type { ProvisionHost } from './provision-host.js'
import type { AgentHost } from '@agentproto/driver-agent-cli'
import { type Command, type CommandEnd, runCommand } from './run-command.js'

type ToolHost = AgentHost & Pick<ProvisionHost, 'installMarker'>
type Tool = Pick<Command, 'file' | 'args' | 'timeoutMs' | 'signal' | 'onLine'> & Partial<Pick<Command, 'cwd' | 'env'>>

/** Runs an installer, or another tool of the host's, to its end. @param tool its `env` is added to the installer's */
export const runTool = (tool: Tool, host: ToolHost): Promise<CommandEnd> =>
  runCommand({
    cwd: host.home,
    clock: host.clock ?? systemClock,
    ...tool,
    env: { ...installerEnvironment(host), ...tool.env },
  })

/** The environment of an installer: filtered, without secrets, because it runs third-party code. */
function installerEnvironment(host: ToolHost): Record<string, string> {
  return buildEnvironment({
    policy: 'filtered',
    parent: { ...host.env, PATH: healPath(host.env['PATH'] ?? '', host.env['HOME']) },
    injected: host.installMarker === undefined ? {} : { [SESSION_MARKER]: host.installMarker },
  })
}
