import { delimiter } from 'node:path'
import { type AgentCliManifest, declaredVariables, type SandboxProfile } from '@agentproto/manifest'
import { buildEnvironment, healPath } from '@agentproto/subprocess'
import type { AgentHost } from '@agentproto/driver-agent-cli'
import { agentHome, agentPrefix, programFolders } from '@agentproto/driver-agent-cli/installation'

/**
 * The environment of an installer: filtered, without secrets, because it runs third-party code.
 */
export function installerEnvironment(host: AgentHost): Record<string, string> {
  return buildEnvironment({
    policy: 'filtered',
    parent: { ...host.env, PATH: healPath(host.env['PATH'] ?? '', host.env['HOME']) },
  })
}

export interface ToolEnvironment {
  readonly manifest: AgentCliManifest
  readonly host: AgentHost
  readonly sandbox: SandboxProfile
  /** Values of secrets and of earlier steps, by the variable that carries them. */
  readonly values?: Readonly<Record<string, string>>
}

/** The environment of the manifest's own commands: the agent's, with its programs first on PATH. */
export function toolEnvironment({ manifest, host, sandbox, values = {} }: ToolEnvironment): Record<string, string> {
  const path = healPath(host.env['PATH'] ?? '', host.env['HOME'])
  return buildEnvironment({
    policy: host.environment ?? 'filtered',
    parent: { ...host.env, PATH: [...programFolders(agentPrefix(manifest, host)), path].join(delimiter) },
    passthrough: declaredVariables(manifest, sandbox),
    // The login must be in the home that the agent uses.
    declared: { ...agentHome(manifest, host)?.variables, ...sandbox.env.set, ...values },
  })
}
