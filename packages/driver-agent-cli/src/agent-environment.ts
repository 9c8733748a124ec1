import type { AgentCliManifest, CompiledLaunch, SandboxProfile } from '@agentproto/manifest'
import { declaredVariables } from '@agentproto/manifest'
import { buildEnvironment, healPath, SESSION_MARKER } from '@agentproto/subprocess'
import type { AgentHost } from './agent-host.js'

export interface EnvironmentRequest {
  readonly sessionId: string
  readonly adapterSlug: string
  readonly compiled: CompiledLaunch
  /** The session's own variables. */
  readonly env: Readonly<Record<string, string>>
  /** Secrets, and what the setup persisted. */
  readonly provided?: Readonly<Record<string, string>>
  /** Where it stands in a file of its own. */
  readonly sandbox?: SandboxProfile
}

/** The whole environment of an agent (DESIGN §4): policy, manifest, session, in rising precedence. */
export function agentEnvironment(
  manifest: AgentCliManifest,
  host: AgentHost,
  { sessionId, adapterSlug, compiled, env, provided, sandbox }: EnvironmentRequest,
): Record<string, string> {
  const profile = sandbox ?? (manifest.sandbox.from === 'inline' ? manifest.sandbox.profile : undefined)
  return buildEnvironment({
    policy: host.environment ?? 'filtered',
    parent: { ...host.env, PATH: healPath(host.env['PATH'] ?? '', host.env['HOME']) },
    passthrough: declaredVariables(manifest, profile),
    declared: { ...profile?.env.set, ...provided, ...compiled.env },
    injected: {
      [SESSION_MARKER]: sessionId,
      AGENTPROTO_AGENT: adapterSlug,
      ...(compiled.model === undefined ? {} : { AGENTPROTO_MODEL: compiled.model }),
      ...env,
    },
  })
}
