import { asString, defined } from '@agentproto/contracts'
import type { SandboxDocument } from './agent-cli-document.js'
import type { SandboxProfile } from './agent-cli-manifest.js'
import { camelKeys } from './camel-keys.js'
import { nearest } from './nearest.js'
import { type ParseAgentCliOptions, parseManifest, type ParseResult } from './parse-manifest.js'
import { type RuleContext, valueAt } from './rule-context.js'
import { secretValueRule } from './secret-value-rule.js'
import { validate } from './validators/sandbox.js'

/** Parses and checks the text of a SANDBOX.md (AIP-36). Never throws for the content of the text. */
export const parseSandbox = (text: string, options: ParseAgentCliOptions): ParseResult<SandboxProfile> =>
  parseManifest<SandboxDocument, SandboxProfile>(text, options, {
    schema: 'sandbox',
    validate,
    rules: (context) => sandboxRules(context, [], options.sandboxProviders),
    normalise: normaliseSandbox,
  }).result

/** Providers that AIP-36 names; a host may register more. */
export const SANDBOX_PROVIDERS: readonly string[] = [
  'local',
  'node-permission',
  'mastra-e2b',
  'mastra-modal',
  'mastra-daytona',
  'mastra-blaxel',
]

/** AIP-36's rules for a profile: the block at a path, or the whole of a SANDBOX.md. */
export function sandboxRules(context: RuleContext, path: readonly string[], registered: readonly string[] = []): void {
  providerRule(context, path, [...SANDBOX_PROVIDERS, ...registered])
  secretValueRule(context, [...path, 'env', 'set'])
}

function providerRule(
  { document, problems, at }: RuleContext,
  path: readonly string[],
  known: readonly string[],
): void {
  const provider = asString(valueAt(document, [...path, 'provider']))
  if (provider === undefined || provider === '' || known.includes(provider)) return
  problems.error('sandbox_provider_unknown', at(...path, 'provider'), {
    message: `Unknown sandbox provider ${provider}.`,
    expected: `one of ${known.join(', ')}`,
    given: provider,
    suggestion: nearest(provider, known),
  })
}

/** Turns a checked block or SANDBOX.md into a profile. */
export function normaliseSandbox(document: SandboxDocument): SandboxProfile {
  const { provider, config = {}, limits = {}, env = {}, network, mounts = [], exec } = document
  // A list of mounts confines files, even an empty one.
  const fs = document.fs ?? (document.mounts && {})
  const { lifecycle, identity, policy, metadata, tty } = document
  return {
    provider,
    config,
    limits: camelKeys(limits),
    env: normaliseEnv(env),
    ...defined({ network: network && { egress: [], ingress: [], ...network } }),
    mounts: mounts.map(({ source, at, mode = 'read-write' }) => ({ source, at, mode })),
    readOnly: document.read_only ?? false,
    ...defined({ fs: fs && { read: [], write: [], deny: [], ...fs }, exec: exec && { spawn: [], ...exec }, tty }),
    carried: defined({ lifecycle, identity, policy, metadata }),
  }
}

const normaliseEnv = ({
  auth,
  passthrough = [],
  set = {},
}: NonNullable<SandboxDocument['env']>): SandboxProfile['env'] => ({
  ...defined({ secretsRef: auth?.ref }),
  authVariables: auth?.state?.env ?? [],
  passthrough,
  set,
})
