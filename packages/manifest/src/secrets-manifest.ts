import { asList, asRecord, defined } from '@agentproto/contracts'
import type { SetupStep } from './agent-cli-manifest.js'
import { nearest } from './nearest.js'
import { parseManifest, type ParseOptions, type ParseResult } from './parse-manifest.js'
import { type Fields, type RuleContext, uniqueIds } from './rule-context.js'
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
  /** Environment variables that expose it. Exposures of other kinds are ignored, with a warning where AIP-19 knows the kind. */
  readonly variables: readonly string[]
  /** The part of the value that each variable gets; the whole value, or the access token, where it is not named. */
  readonly fields: Readonly<Record<string, string>>
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
  readonly exposures?: readonly { readonly kind: string; readonly name?: string; readonly field?: string }[]
}

/** Keys that would contain a value. Each is refused, and its value appears in no message. */
const VALUE_KEYS = ['value', 'plaintext', 'ciphertext', 'secret', 'data', 'key', 'token']

function secretRules(context: RuleContext): void {
  uniqueIds(context, 'secrets', 'slug')
  asList(asRecord(context.document)['secrets']).forEach((entry, index) => {
    exposureRules(context, asRecord(entry), index)
    for (const key of VALUE_KEYS) {
      if (!Object.hasOwn(asRecord(entry), key)) continue
      context.problems.error('secret_in_manifest', context.keyAt('secrets', index, key), {
        message: `A SECRETS.md must not contain a value: remove \`${key}\`.`,
        expected: 'the declaration only; set the value with `agentproto secrets set <slug>`',
      })
    }
  })
}

/** AIP-19: the parts that a value of each kind has; of `json` they are its own keys. */
const FIELDS: Readonly<Record<Exclude<SecretDeclaration['kind'], 'json'>, readonly string[]>> = {
  opaque: ['value'],
  oauth: ['accessToken', 'refreshToken', 'expiresAt'],
  keypair: ['private', 'public'],
}

function exposureRules({ problems, at, keyAt }: RuleContext, entry: Fields, index: number): void {
  const { kind = 'opaque', exposures, access } = entry
  if (access !== undefined) {
    problems.warn('block_ignored', keyAt('secrets', index, 'access'), {
      message: '`access` is not enforced: an agent gets what its own SECRETS.md declares.',
    })
  }
  const known =
    typeof kind === 'string' && Object.hasOwn(FIELDS, kind) ? FIELDS[kind as keyof typeof FIELDS] : undefined
  asList(exposures).forEach((each, place) => {
    const exposure = asRecord(each)
    const path = ['secrets', index, 'exposures', place] as const
    if (exposure['kind'] === 'file' || exposure['kind'] === 'egress-substitute') {
      problems.warn('block_ignored', at(...path, 'kind'), {
        message: `An exposure of kind ${exposure['kind']} has no effect.`,
        expected: 'kind: env',
      })
    }
    const { field } = exposure
    if (exposure['kind'] !== 'env' || typeof field !== 'string' || known?.includes(field) !== false) return
    problems.error('value_unknown', at(...path, 'field'), {
      message: `A secret of kind ${String(kind)} has no such part.`,
      expected: `one of ${known.join(', ')}`,
      given: field,
      suggestion: nearest(field, known),
    })
  })
}

const normaliseSecret = (secret: SecretDocument): SecretDeclaration => ({
  slug: secret.slug,
  name: secret.name,
  description: secret.description,
  kind: secret.kind ?? 'opaque',
  ...defined({ backend: secret.backend }),
  variables: (secret.exposures ?? []).flatMap(({ kind, name }) => (kind === 'env' && name !== undefined ? [name] : [])),
  fields: Object.fromEntries(
    (secret.exposures ?? []).flatMap(({ kind, name, field }) =>
      kind === 'env' && name !== undefined && field !== undefined ? [[name, field]] : [],
    ),
  ),
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
