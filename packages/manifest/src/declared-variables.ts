import type { AgentCliManifest, SandboxProfile } from './agent-cli-manifest.js'

/**
 * The variables that the agent needs from its host according to the manifest. The environment policy passes them even
 * when their names look like secrets: `auth.state.env`, the other slots of `models.env`,
 * and the sandbox's `passthrough` and `auth.state.env`.
 */
export function declaredVariables(manifest: AgentCliManifest, sandbox?: SandboxProfile): readonly string[] {
  const profile = sandbox ?? (manifest.sandbox.from === 'inline' ? manifest.sandbox.profile : undefined)
  const modelSlots = Object.entries(manifest.models.env).filter(([slot]) => slot !== 'default')
  return [
    ...new Set([
      ...(manifest.auth?.state.env ?? []),
      ...modelSlots.map(([, name]) => name),
      ...(profile?.env.passthrough ?? []),
      ...(profile?.env.authVariables ?? []),
    ]),
  ]
}
