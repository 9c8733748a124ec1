import type { AgentInfo } from '@agentproto/contracts'
import type { DoctorCheck } from '@agentproto/contracts/wire'
import type { LoadedAgentCli } from '@agentproto/manifest/node'

/** Compares what the manifest and its ACP.md declare with what the agent has negotiated. */
export function capabilityChecks(
  { manifest, acp }: LoadedAgentCli,
  { capabilities: can }: AgentInfo,
): readonly DoctorCheck[] {
  const ownWord = [
    compared('resumable', 'Sessions outlive it', {
      declared: manifest.capabilities.resumable,
      found: can.load || can.resume,
    }),
    compared('multimodal', 'Takes images or audio', {
      declared: manifest.capabilities.multimodal,
      found: can.image || can.audio,
    }),
  ]
  const profile = acp?.agent
  if (profile === undefined) return ownWord
  return [
    ...ownWord,
    compared('loadSession', 'session/load', { declared: profile.loadSession, found: can.load }),
    compared('image', 'Images in prompts', { declared: profile.image, found: can.image }),
    compared('audio', 'Audio in prompts', { declared: profile.audio, found: can.audio }),
    compared('embeddedContext', 'Resources in prompts', {
      declared: profile.embeddedContext,
      found: can.embeddedContext,
    }),
    compared('mcpHttp', 'MCP servers over HTTP', { declared: profile.mcpHttp, found: can.mcpHttp }),
    compared('mcpSse', 'MCP servers over SSE', { declared: profile.mcpSse, found: can.mcpSse }),
  ]
}

interface Comparison {
  readonly declared: boolean
  readonly found: boolean
}

/** A declared capability that is missing breaks callers; an undeclared one is only not used. */
function compared(name: string, title: string, { declared, found }: Comparison): DoctorCheck {
  const base = { id: `capability.${name}`, title, declared: yesNo(declared), found: yesNo(found) }
  if (declared === found) return { ...base, verdict: 'ok', detail: yesNo(found) }
  if (declared) return { ...base, verdict: 'fail', detail: 'the manifest declares it, the agent does not offer it' }
  return { ...base, verdict: 'warn', detail: 'the agent offers it, the manifest does not declare it' }
}

const yesNo = (value: boolean): string => (value ? 'yes' : 'no')
