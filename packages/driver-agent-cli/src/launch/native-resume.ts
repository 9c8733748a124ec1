import { AgentprotoError } from '@agentproto/contracts'
import type { AgentCliManifest } from '@agentproto/manifest'
import { manifestHint, member } from './manifest-hint.js'

/**
 * The arguments by which an agent resumes a conversation at its start (AIP-45 `native-resume`), by
 * `metadata.agentproto.resume.bin_args_template`. Undefined where its protocol does it.
 * @throws `invalid_request` for an id that would be read as a flag
 */
export function nativeResumeArgs(manifest: Manifest, agentSessionId: string): readonly string[] | undefined {
  const template = templateOf(manifest)
  if (template === undefined) return undefined
  if (/^-|\0/.test(agentSessionId)) {
    throw new AgentprotoError('invalid_request', 'The id of the agent’s session would be read as a flag', {
      given: agentSessionId,
    })
  }
  return template.map((part) => String(part).replaceAll('{value}', () => agentSessionId))
}

/** Whether the agent resumes a conversation by arguments of its start. */
export const resumesByFlags = (manifest: Manifest): boolean => templateOf(manifest) !== undefined

type Manifest = Pick<AgentCliManifest, 'metadata'>

function templateOf(manifest: Manifest): readonly unknown[] | undefined {
  const template = member(manifestHint(manifest, 'resume'), 'bin_args_template')
  return Array.isArray(template) ? template : undefined
}
