import { asList, asRecord, defined } from '@agentproto/contracts'
import type { SetupStep } from './agent-cli-manifest.js'
import { nearest } from './nearest.js'
import { parseManifest, type ParseOptions, type ParseResult } from './parse-manifest.js'
import { type RuleContext, uniqueIds } from './rule-context.js'
import { validate } from './validators/secrets.js'

/** A SECRETS.md (AIP-19): which secrets there are, never their values. */
export interface SecretsManifest {
  readonly secrets: readonly SecretDeclaration[]
}

export interface SecretDeclaration {
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly kind: 'opaque' | 'oauth' | 'keypair' | 'json'
  /** `scheme://…` */
  readonly backend?: string
  /** Environment variables that expose it. Exposures of other kinds are ignored. */
  readonly variables: readonly string[]
  readonly tags: readonly string[]
}

/** Parses and checks the text of a SECRETS.md. Never throws for the content of the text. */
export const parseSecrets = (text: string, options: ParseOptions): ParseResult<SecretsManifest> =>
  parseManifest<SecretsDocument, SecretsManifest>(text, options, {
    schema: 'secrets',
    validate,
    confidential: true,
    rules: secretRules,
    normalise: ({ secrets }) => ({ secrets: secrets.map(normaliseSecret) }),
  }).result

interface SecretsDocument {
  readonly secrets: readonly SecretDocument[]
}

interface SecretDocument extends Pick<SecretDeclaration, 'slug' | 'name' | 'description' | 'backend'> {
  readonly kind?: SecretDeclaration['kind']
  readonly tags?: readonly string[]
  readonly exposures?: readonly { readonly kind: string; readonly name?: string }[]
}

/** Keys that would contain a value. Each is refused, and its value appears in no message. */
const VALUE_KEYS = ['value', 'plaintext', 'ciphertext', 'secret', 'data', 'key', 'token']

function secretRules(context: RuleContext): void {
  uniqueIds(context, 'secrets', 'slug')
  asList(asRecord(context.document)['secrets']).forEach((entry, index) => {
    for (const key of VALUE_KEYS) {
      if (!Object.hasOwn(asRecord(entry), key)) continue
      context.problems.error('secret_in_manifest', context.keyAt('secrets', index, key), {
        message: `A SECRETS.md must not contain a value: remove \`${key}\`.`,
        expected: 'the declaration only; set the value with `agentproto secrets set`',
      })
    }
  })
}

const normaliseSecret = (secret: SecretDocument): SecretDeclaration => ({
  slug: secret.slug,
  name: secret.name,
  description: secret.description,
  kind: secret.kind ?? 'opaque',
  ...defined({ backend: secret.backend }),
  variables: (secret.exposures ?? []).flatMap(({ kind, name }) => (kind === 'env' && name !== undefined ? [name] : [])),
  tags: secret.tags ?? [],
})

/** AIP-29: the secrets that setup steps name are declared in the SECRETS.md, an `oauth` step's as oauth. */
export function secretReferenceRules(
  { problems, at }: RuleContext,
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
        message: `The SECRETS.md does not declare the secret ${named.slug}.`,
        expected: `one of ${slugs.join(', ')}`,
        given: named.slug,
        suggestion: nearest(named.slug, slugs),
      })
    } else if (step.kind === 'oauth' && declared.kind !== 'oauth') {
      problems.error('secret_undeclared', at('setup', index, ...named.path), {
        message: `The secret ${named.slug} is not of kind oauth, which a step of kind oauth needs.`,
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
