import { agentCliRules } from './agent-cli-rules.js'
import type { AgentCliDocument } from './agent-cli-document.js'
import type { AgentCliManifest } from './agent-cli-manifest.js'
import { normaliseAgentCli } from './normalise-agent-cli.js'
import { type ParseAgentCliOptions, parseManifest, type ParseResult, type PlacedResult } from './parse-manifest.js'
import { validate } from './validators/agent-cli.js'

/**
 * Parses and checks the text of an AGENT-CLI.md (AIP-45): all problems, each with its position.
 * Pure: the files that it refers to are read by `readAgentCli` of `@agentproto/manifest/node`.
 * Never throws for the content of the text.
 */
export const parseAgentCli = (text: string, options: ParseAgentCliOptions): ParseResult<AgentCliManifest> =>
  parseAgentCliAt(text, options).result

/** The same, with the means to report problems of referenced files at the reference. */
export const parseAgentCliAt = (text: string, options: ParseAgentCliOptions): PlacedResult<AgentCliManifest> =>
  parseManifest<AgentCliDocument, AgentCliManifest>(text, options, {
    schema: 'agent-cli',
    validate,
    rules: agentCliRules(options),
    normalise: normaliseAgentCli,
  })
