import { delimiter, dirname } from 'node:path'
import { defined, type TraceContext } from '@agentproto/contracts'
import type { AgentCliManifest, CompiledLaunch, SandboxProfile } from '@agentproto/manifest'
import { declaredVariables } from '@agentproto/manifest'
import { buildEnvironment, healPath, SESSION_MARKER } from '@agentproto/subprocess'
import { agentHome, homePolicy } from './agent-home.js'
import type { AgentHost } from '../agent-host.js'

export interface EnvironmentRequest {
  readonly sessionId: string
  readonly adapterSlug: string
  readonly compiled: CompiledLaunch
  /** The session's own variables. */
  readonly env: Readonly<Record<string, string>>
  /** The trace that it is started in. */
  readonly trace?: TraceContext
  /** Secrets, and what the setup persisted. */
  readonly provided?: Readonly<Record<string, string>>
  /** Where it stands in a file of its own. */
  readonly sandbox?: SandboxProfile
}

/** The whole environment of an agent (docs/environment.md): policy, home, manifest, session, in rising precedence. */
export function agentEnvironment(
  manifest: AgentCliManifest,
  host: AgentHost,
  { sandbox, compiled, provided, ...session }: EnvironmentRequest,
): Record<string, string> {
  const profile = sandbox ?? (manifest.sandbox.from === 'inline' ? manifest.sandbox.profile : undefined)
  const home = agentHome(manifest, host)
  return buildEnvironment({
    policy: host.environment ?? 'filtered',
    parent: { ...host.env, PATH: searchPath(host) },
    passthrough: declaredVariables(manifest, profile),
    declared: { ...home?.variables, ...profile?.env.set, ...provided, ...compiled.env },
    injected: injected(manifest, host, { ...session, home: home?.path, model: compiled.model }),
  })
}

/** Agents that call `agentproto` get the host's own program, not another installed one. */
export function searchPath({ env, bin }: AgentHost): string {
  const healed = healPath(env['PATH'] ?? '', env['HOME'])
  if (bin === undefined) return healed
  const own = dirname(bin)
  return [own, ...healed.split(delimiter).filter((folder) => folder !== own)].join(delimiter)
}

interface Injected extends Pick<EnvironmentRequest, 'sessionId' | 'adapterSlug' | 'env' | 'trace'> {
  readonly home: string | undefined
  readonly model: string | undefined
}

/** The table of docs/environment.md; a variable that does not apply is not set, and never inherited. */
function injected(manifest: AgentCliManifest, host: AgentHost, session: Injected): Record<string, string> {
  return defined({
    [SESSION_MARKER]: session.sessionId,
    AGENTPROTO_AGENT: session.adapterSlug,
    AGENTPROTO_AGENT_NAME: manifest.name,
    AGENTPROTO_PROTOCOL: manifest.protocol,
    AGENTPROTO_ENV_POLICY: host.environment ?? 'filtered',
    AGENTPROTO_HOME_POLICY: homePolicy(manifest, host),
    AGENTPROTO_AGENT_HOME: session.home,
    AGENTPROTO_MODEL: session.model,
    AGENTPROTO_URL: host.url?.(),
    AGENTPROTO_BIN: host.bin,
    TRACEPARENT: session.trace?.traceparent,
    TRACESTATE: session.trace?.tracestate,
    ...session.env,
  })
}
