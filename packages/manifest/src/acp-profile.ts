import type { ManifestCapabilities } from './agent-cli-manifest.js'
import { nearest } from './nearest.js'
import { parseManifest } from './parse-manifest.js'
import type { ParseOptions, ParseResult } from './parse-manifest.js'
import { fieldsOf, valueAt } from './rule-context.js'
import type { RuleContext } from './rule-context.js'
import { schemas } from './schemas.js'
import { validate } from './validators/acp.js'

/** An ACP.md (AIP-44) as far as a host reads it. */
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

/** Parses and checks the text of an ACP.md. Never throws for what the text holds. */
export const parseAcp = (text: string, options: ParseOptions): ParseResult<AcpProfile> =>
  parseManifest<AcpDocument, AcpProfile>(text, options, {
    schema: 'acp',
    validate,
    rules: strayKeys,
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

/** Both objects may have other keys, but a key that is almost one of theirs is a typing error. */
function strayKeys({ document, problems, keyAt }: RuleContext): void {
  const warn = (path: readonly string[], known: readonly string[]): void => {
    for (const key of Object.keys(fieldsOf(valueAt(document, path)))) {
      const suggestion = known.includes(key) ? undefined : nearest(key, known)
      if (suggestion === undefined) continue
      const message = `The key \`${[...path, key].join('.')}\` has no effect.`
      problems.warn('key_unknown', keyAt(...path, key), { message, given: key, suggestion })
    }
  }
  warn([], KNOWN_KEYS)
  warn(['metadata', 'aip44'], AIP44_KEYS)
}

function normaliseAcp(document: AcpDocument): AcpProfile {
  const { name, id, description, version, kind, transport } = document
  const { acp_rev: acpRev, tier, capabilities } = document.metadata.aip44
  const declared = capabilities === undefined ? TIER_CAPABILITIES[tier] : (capabilities.agent ?? {})
  const { promptCapabilities = {}, mcpCapabilities = {} } = declared
  return {
    name,
    id,
    description,
    version,
    kind,
    transports: typeof transport === 'string' ? [transport] : transport,
    acpRev,
    tier,
    agent: {
      loadSession: declared.loadSession ?? false,
      image: promptCapabilities.image ?? false,
      audio: promptCapabilities.audio ?? false,
      embeddedContext: promptCapabilities.embeddedContext ?? false,
      mcpHttp: mcpCapabilities.http ?? false,
      mcpSse: mcpCapabilities.sse ?? false,
    },
  }
}

const TIER_CAPABILITIES: Readonly<Record<AcpTier, AgentDocument>> = {
  basic: {},
  'governance-aware': { loadSession: true },
  sandboxed: { loadSession: true, mcpCapabilities: { http: true, sse: true } },
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
