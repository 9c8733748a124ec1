import { fieldsOf, textOf } from './field.js'
import { nearest } from './nearest.js'
import type { RuleContext } from './parse-manifest.js'
import { schemas } from './schema-registry.js'
import { secretValueRule } from './secret-value-rule.js'

/** Providers that AIP-36 names; a host may register more. */
export const SANDBOX_PROVIDERS: readonly string[] = [
  'local',
  'node-permission',
  'mastra-e2b',
  'mastra-modal',
  'mastra-daytona',
  'mastra-blaxel',
]

/** AIP-36's rules for a profile, inline at a path or the whole of a SANDBOX.md. */
export function sandboxRules(context: RuleContext, path: readonly string[], registered: readonly string[] = []): void {
  providerRule(context, path, [...SANDBOX_PROVIDERS, ...registered])
  strayKeys(context, path)
  secretValueRule(context, [...path, 'env', 'set'])
}

const profileAt = (document: unknown, path: readonly string[]): Readonly<Record<string, unknown>> =>
  fieldsOf(path.reduce<unknown>((value, step) => fieldsOf(value)[step], document))

function providerRule(
  { document, problems, at }: RuleContext,
  path: readonly string[],
  known: readonly string[],
): void {
  const provider = textOf(profileAt(document, path)['provider'])
  if (provider === undefined || provider === '' || known.includes(provider)) return
  problems.error('sandbox_provider_unknown', at(...path, 'provider'), {
    message: `There is no sandbox provider ${provider}.`,

    expected: `one of ${known.join(', ')}`,
    given: provider,
    suggestion: nearest(provider, known),
  })
}

const PROFILE_KEYS = Object.keys(schemas.blocks.$defs.sandboxProfile.properties)
const FILE_KEYS = [...PROFILE_KEYS, ...Object.keys(schemas.sandbox.properties)]

/** The profile is an open object, but a key that is almost one of its own is a slip. */
function strayKeys({ document, problems, keyAt }: RuleContext, path: readonly string[]): void {
  const known = path.length === 0 ? FILE_KEYS : PROFILE_KEYS
  for (const key of Object.keys(profileAt(document, path))) {
    const meant = known.includes(key) ? undefined : nearest(key, known)
    if (meant === undefined) continue
    problems.warn('key_unknown', keyAt(...path, key), {
      message: `The sandbox has a key \`${key}\` that nothing reads.`,

      given: key,
      suggestion: meant,
    })
  }
}
