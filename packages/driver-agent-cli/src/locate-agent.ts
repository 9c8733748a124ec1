import { join } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'
import type { AgentCliManifest, InstallMethod } from '@agentproto/manifest'
import { commandFor, findExecutable } from '@agentproto/subprocess'
import type { AgentHost } from './agent-host.js'

/** How an agent is run, before its own arguments. */
export interface AgentCommand {
  /** Absolute path. */
  readonly command: string
  readonly args: readonly string[]
}

/**
 * Finds the executable of a manifest: where the host says, in the agent's own npm prefix below the home,
 * then on the healed PATH. Undefined when it is not installed.
 */
export async function locateAgent(manifest: AgentCliManifest, host: AgentHost): Promise<AgentCommand | undefined> {
  const file = await findExecutable(manifest.bin, {
    dirs: [join(host.home, 'agents', manifest.id, 'node_modules', '.bin')],
    ...(host.executables === undefined ? {} : { executables: host.executables }),
    ...(host.env['PATH'] === undefined ? {} : { path: host.env['PATH'] }),
    ...(host.env['HOME'] === undefined ? {} : { home: host.env['HOME'] }),
  })
  return file === undefined ? undefined : commandFor(file)
}

/** As {@link locateAgent}. @throws `agent_not_installed`, with what to run */
export async function requireAgent(manifest: AgentCliManifest, host: AgentHost): Promise<AgentCommand> {
  const found = await locateAgent(manifest, host)
  if (found) return found
  const install = manifest.install.map(installCommand).find((command) => command !== undefined)
  throw new AgentprotoError('agent_not_installed', `The executable ${manifest.bin} of ${manifest.name} is not found`, {
    expected: `${manifest.bin} on PATH`,
    ...(install === undefined ? {} : { hint: `Install it: ${install}` }),
  })
}

/** Package managers that take one command without asking for rights. */
const INSTALLERS: Readonly<Record<string, string>> = {
  npm: 'npm install --global',
  brew: 'brew install',
  cargo: 'cargo install',
  pip: 'pip install',
  go: 'go install',
}

function installCommand(method: InstallMethod): string | undefined {
  const installer = INSTALLERS[method.method]
  return installer !== undefined && 'package' in method ? `${installer} ${method.package}` : undefined
}
