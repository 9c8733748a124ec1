import { fieldsOf } from './field.js'
import { given } from './given.js'
import { nearest } from './nearest.js'
import { parseManifest } from './parse-manifest.js'
import type { ParseOptions, ParseResult, RuleContext } from './parse-manifest.js'
import { schemas } from './schema-registry.js'

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
  parseManifest<AcpDocument, AcpProfile>(text, options, { schema: 'acp', rules: strayKeys, normalise: normaliseAcp })

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
  readonly promptCapabilities?: {
    readonly image?: boolean
    readonly audio?: boolean
    readonly embeddedContext?: boolean
  }
  readonly mcpCapabilities?: { readonly http?: boolean; readonly sse?: boolean }
}

function normaliseAcp(document: AcpDocument): AcpProfile {
  const { name, id, description, version, kind, transport } = document
  const { acp_rev: acpRev, tier, capabilities } = document.metadata.aip44
  return {
    name,
    id,
    description,
    version,
    kind,
    transports: typeof transport === 'string' ? [transport] : transport,
    acpRev,
    tier,
    agent: agentCapabilities(capabilities === undefined ? TIER_CAPABILITIES[tier] : (capabilities.agent ?? {})),
  }
}

const TIER_CAPABILITIES: Readonly<Record<AcpTier, AgentDocument>> = {
  basic: {},
  'governance-aware': { loadSession: true },
  sandboxed: { loadSession: true, mcpCapabilities: { http: true, sse: true } },
}

const agentCapabilities = ({
  loadSession,
  promptCapabilities,
  mcpCapabilities,
}: AgentDocument): AcpAgentCapabilities => ({
  loadSession: loadSession ?? false,
  image: promptCapabilities?.image ?? false,
  audio: promptCapabilities?.audio ?? false,
  embeddedContext: promptCapabilities?.embeddedContext ?? false,
  mcpHttp: mcpCapabilities?.http ?? false,
  mcpSse: mcpCapabilities?.sse ?? false,
})

const KNOWN_KEYS = Object.keys(schemas.acp.properties)
const AIP44_KEYS = Object.keys(schemas.acp.properties.metadata.properties.aip44.properties)

/** Both objects are open, but a key that is almost one of theirs is a slip. */
function strayKeys({ document, problems, keyAt }: RuleContext): void {
  const warn = (path: readonly string[], fields: object, known: readonly string[]): void => {
    for (const key of Object.keys(fields)) {
      const meant = known.includes(key) ? undefined : nearest(key, known)
      if (meant === undefined) continue
      problems.warn('key_unknown', keyAt(...path, key), {
        message: `Nothing reads the key \`${key}\`.`,
        given: key,
        ...given('suggestion', meant),
      })
    }
  }
  const fields = fieldsOf(document)
  warn([], fields, KNOWN_KEYS)
  warn(['metadata', 'aip44'], fieldsOf(fieldsOf(fields['metadata'])['aip44']), AIP44_KEYS)
}
