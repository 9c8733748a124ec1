import type { SandboxDocument } from './agent-cli-document.js'
import type { SandboxProfile } from './agent-cli-manifest.js'
import { normaliseSandbox } from './normalise-sandbox.js'
import { parseManifest } from './parse-manifest.js'
import type { ParseOptions, ParseResult } from './parse-manifest.js'
import { sandboxRules } from './sandbox-rules.js'

export interface ParseSandboxOptions extends ParseOptions {
  /** Providers that the host registers beside the built-in ones. */
  readonly sandboxProviders?: readonly string[]
}

/** Parses and checks the text of a SANDBOX.md (AIP-36). Never touches the network, a secret or a process. */
export const parseSandbox = (text: string, options: ParseSandboxOptions): ParseResult<SandboxProfile> =>
  parseManifest<SandboxDocument, SandboxProfile>(text, options, {
    schema: 'sandbox',
    rules: (context) => sandboxRules(context, [], options.sandboxProviders),
    normalise: normaliseSandbox,
  })
