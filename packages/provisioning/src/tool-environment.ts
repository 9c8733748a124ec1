import { delimiter } from 'node:path'
import { systemClock } from '@agentproto/contracts'
import { declaredVariables } from '@agentproto/manifest'
import { buildEnvironment, healPath } from '@agentproto/subprocess'
import type { AgentHost } from '@agentproto/driver-agent-cli'
import { agentHome, agentPrefix, programFolders } from '@agentproto/driver-agent-cli/installation'
import type { AgentRecord, AgentVariables } from './agent-record.js'
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

type Tooling = Pick<AgentRecord, 'adapter' | 'host'> & Pick<AgentVariables, 'variables'>

/** The environment of the manifest's own commands: the agent's, with its programs first on PATH. */
export function toolEnvironment({ adapter, host, variables }: Tooling): Record<string, string> {
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
