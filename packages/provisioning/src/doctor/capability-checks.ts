import type { AgentInfo } from '@agentproto/contracts'
import type { DoctorCheck } from '@agentproto/contracts/wire'
import type { LoadedAgentCli } from '@agentproto/manifest/node'

/** Compares what the manifest and its ACP.md declare with what the agent has negotiated. */
export function capabilityChecks(
  { manifest, acp }: LoadedAgentCli,
  { capabilities: can }: AgentInfo,
): readonly DoctorCheck[] {
  const { resumable, multimodal } = manifest.capabilities
  const own = [
    compared('resumable', 'Sessions outlive it', [resumable, can.load || can.resume]),
    compared('multimodal', 'Takes images or audio', [multimodal, can.image || can.audio]),
  ]
  const profile = acp?.agent
  if (profile === undefined) return own
  return [
    ...own,
    compared('loadSession', 'session/load', [profile.loadSession, can.load]),
    compared('image', 'Images in prompts', [profile.image, can.image]),
    compared('audio', 'Audio in prompts', [profile.audio, can.audio]),
    compared('embeddedContext', 'Resources in prompts', [profile.embeddedContext, can.embeddedContext]),
    compared('mcpHttp', 'MCP servers over HTTP', [profile.mcpHttp, can.mcpHttp]),
    compared('mcpSse', 'MCP servers over SSE', [profile.mcpSse, can.mcpSse]),
  ]
}

/** A declared capability that is missing breaks callers; an undeclared one is only not used. */
function compared(name: string, title: string, [declared, found]: readonly [boolean, boolean]): DoctorCheck {
  const base = { id: `capability.${name}`, title, declared: yesNo(declared), found: yesNo(found) }
  if (declared === found) return { ...base, verdict: 'ok', detail: yesNo(found) }
  if (declared) return { ...base, verdict: 'fail', detail: 'the manifest declares it, the agent does not offer it' }
  return { ...base, verdict: 'warn', detail: 'the agent offers it, the manifest does not declare it' }
}

const yesNo = (value: boolean): string => (value ? 'yes' : 'no')
