import type { SetupStep } from './agent-cli-manifest.js'
import { nearest } from './nearest.js'
import type { RuleContext } from './parse-manifest.js'
import type { SecretsManifest } from './parse-secrets.js'

/** AIP-29: the secrets that setup steps name are declared in the SECRETS.md, an `oauth` step's as oauth. */
export function secretProblems(
  { problems, at }: Pick<RuleContext, 'problems' | 'at'>,
  setup: readonly SetupStep[],
  { secrets }: SecretsManifest,
): void {
  const slugs = secrets.map((secret) => secret.slug)
  setup.forEach((step, index) => {
    const named = secretOf(step)
    if (named === undefined) return
    const declared = secrets.find((secret) => secret.slug === named.slug)
    if (declared === undefined) {
      problems.error('secret_undeclared', at('setup', index, ...named.path), {
        message: `The SECRETS.md declares no secret ${named.slug}.`,

        expected: `one of ${slugs.join(', ')}`,
        given: named.slug,
        suggestion: nearest(named.slug, slugs),
      })
    } else if (step.kind === 'oauth' && declared.kind !== 'oauth') {
      problems.error('secret_undeclared', at('setup', index, ...named.path), {
        message: `The secret ${named.slug} is not of kind oauth.`,

        expected: 'kind: oauth in the SECRETS.md',
        given: declared.kind,
      })
    }
  })
}

function secretOf(step: SetupStep): { readonly slug: string; readonly path: readonly string[] } | undefined {
  if (step.kind === 'oauth') return { slug: step.secretSlug, path: ['secret_slug'] }
  const { persist } = step
  return persist !== undefined && 'secretSlug' in persist
    ? { slug: persist.secretSlug, path: ['persist', 'secret_slug'] }
    : undefined
}
