import type { ManifestCapabilities } from './agent-cli-manifest.js'
import { parseManifest, type ParseOptions, type ParseResult } from './parse-manifest.js'
import { type RuleContext, strayKeyRule } from './rule-context.js'
import { schemas } from './schemas.js'
import { validate } from './validators/acp.js'

/** The parts of an ACP.md (AIP-44) that a host uses. */
export interface AcpProfile {
  readonly name: string
  readonly id: string
  readonly description: string
  readonly version: string
  readonly kind: 'client' | 'server' | 'bridge'
  readonly transports: readonly ('stdio' | 'websocket')[]
  /** Revision of the upstream protocol. */
  readonly acpRev: string
  readonly tier: AcpTier
  /** What the agent declares, or what its tier implies where it declares nothing. */
  readonly agent: AcpAgentCapabilities
}

export type AcpTier = 'basic' | 'governance-aware' | 'sandboxed'

export interface AcpAgentCapabilities {
  readonly loadSession: boolean
  readonly image: boolean
  readonly audio: boolean
  readonly embeddedContext: boolean
  readonly mcpHttp: boolean
  readonly mcpSse: boolean
}

/** Parses and checks the text of an ACP.md. Never throws for the content of the text. */
export const parseAcp = (text: string, options: ParseOptions): ParseResult<AcpProfile> =>
  parseManifest<AcpDocument, AcpProfile>(text, options, {
    schema: 'acp',
    validate,
    rules: (context) => {
      strayKeyRule(context, [], { known: KNOWN_KEYS })
      strayKeyRule(context, ['metadata', 'aip44'], { known: AIP44_KEYS })
    },
    normalise: normaliseAcp,
  }).result

interface AcpDocument extends Pick<AcpProfile, 'name' | 'id' | 'description' | 'version' | 'kind'> {
  readonly transport: 'stdio' | 'websocket' | readonly ('stdio' | 'websocket')[]
  readonly metadata: {
    readonly aip44: {
      readonly acp_rev: string
      readonly tier: AcpTier
      readonly capabilities?: { readonly agent?: AgentDocument }
    }
  }
}

interface AgentDocument {
  readonly loadSession?: boolean
  readonly promptCapabilities?: Partial<Pick<AcpAgentCapabilities, 'image' | 'audio' | 'embeddedContext'>>
  readonly mcpCapabilities?: { readonly http?: boolean; readonly sse?: boolean }
}

const KNOWN_KEYS = Object.keys(schemas.acp.properties)
const AIP44_KEYS = Object.keys(schemas.acp.properties.metadata.properties.aip44.properties)

function normaliseAcp({ transport, metadata, ...document }: AcpDocument): AcpProfile {
  const { name, id, description, version, kind } = document
  const { acp_rev: acpRev, tier, capabilities } = metadata.aip44
  const declared = capabilities === undefined ? TIER_CAPABILITIES[tier] : (capabilities.agent ?? {})
  const { loadSession = false, promptCapabilities, mcpCapabilities: mcp } = declared
  const prompts = { image: false, audio: false, embeddedContext: false, ...promptCapabilities }
  const agent = { loadSession, ...prompts, mcpHttp: mcp?.http ?? false, mcpSse: mcp?.sse ?? false }
  return { name, id, description, version, kind, transports: [transport].flat(), acpRev, tier, agent }
}

const TIER_CAPABILITIES: Readonly<Record<AcpTier, AgentDocument>> = {
  basic: {},
  'governance-aware': { loadSession: true },
  sandboxed: { loadSession: true, mcpCapabilities: { http: true, sse: true } },
}

/** AIP-44 `transport`: stdio counts unless the manifest says where else the agent is reached. */
export function transportRules(
  { problems, at }: RuleContext,
  hasEndpoint: boolean,
  { transports, name }: AcpProfile,
): void {
  if (hasEndpoint && !transports.includes('websocket'))
    problems.error('endpoint_undeclared', at('metadata', 'agentproto', 'endpoint'), {
      message: `The manifest has an endpoint, but the ACP.md of ${name} does not list the transport websocket.`,
      expected: 'transport: websocket in the ACP.md',
      given: transports.join(', '),
    })
  if (!hasEndpoint && !transports.includes('stdio'))
    problems.error('endpoint_missing', at('acp'), {
      message: `The ACP.md of ${name} lists only the transport websocket, and the manifest does not say where the agent is.`,
      expected: 'metadata.agentproto.endpoint with a url',
      given: transports.join(', '),
    })
}

/** AIP-45: a manifest may only declare capabilities that its ACP.md declares. */
export function capabilityRules(
  { problems, at }: RuleContext,
  declared: ManifestCapabilities,
  { agent, name }: AcpProfile,
): void {
  const report = (capability: 'resumable' | 'multimodal', expected: string): void =>
    problems.error('capability_undeclared', at('capabilities', capability), {
      message: `\`capabilities.${capability}\` is true, but the ACP.md of ${name} does not declare it.`,
      expected: `${expected} in the ACP.md`,
      given: true,
      suggestion: `${capability}: false`,
    })
  if (declared.resumable && !agent.loadSession)
    report('resumable', 'metadata.aip44.capabilities.agent.loadSession: true')
  if (declared.multimodal && !agent.image && !agent.audio)
    report('multimodal', 'promptCapabilities.image: true or promptCapabilities.audio: true')
}
