import { fieldsOf, listOf } from './field.js'
import { given } from './given.js'
import { parseManifest } from './parse-manifest.js'
import type { ParseOptions, ParseResult, RuleContext } from './parse-manifest.js'
import { uniqueIds } from './unique-ids.js'

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
  /** Environment variables that carry it; exposures of other kinds are left out. */
  readonly variables: readonly string[]
  readonly tags: readonly string[]
}

/** Parses and checks the text of a SECRETS.md. Never throws for what the text holds. */
export const parseSecrets = (text: string, options: ParseOptions): ParseResult<SecretsManifest> =>
  parseManifest<SecretsDocument, SecretsManifest>(text, options, {
    schema: 'secrets',
    confidential: true,
    rules: secretRules,
    normalise: ({ secrets }) => ({ secrets: secrets.map(normaliseSecret) }),
  })

interface SecretsDocument {
  readonly secrets: readonly SecretDocument[]
}

interface SecretDocument extends Pick<SecretDeclaration, 'slug' | 'name' | 'description' | 'backend'> {
  readonly kind?: SecretDeclaration['kind']
  readonly tags?: readonly string[]
  readonly exposures?: readonly { readonly kind: string; readonly name?: string }[]
}

const normaliseSecret = ({
  slug,
  name,
  description,
  kind,
  backend,
  tags,
  exposures = [],
}: SecretDocument): SecretDeclaration => ({
  slug,
  name,
  description,
  kind: kind ?? 'opaque',
  ...given('backend', backend),
  variables: exposures.flatMap((exposure) =>
    exposure.kind === 'env' && exposure.name !== undefined ? [exposure.name] : [],
  ),
  tags: tags ?? [],
})

/** A manifest never holds a value: each of these is refused, and its value appears in no message. */
const VALUE_KEYS = ['value', 'plaintext', 'ciphertext', 'secret', 'data', 'key', 'token']

function secretRules(context: RuleContext): void {
  uniqueIds(context, 'secrets', 'slug')
  listOf(fieldsOf(context.document)['secrets']).forEach((entry, index) => {
    for (const key of VALUE_KEYS) {
      if (!Object.hasOwn(fieldsOf(entry), key)) continue
      context.problems.error('secret_in_manifest', context.keyAt('secrets', index, key), {
        message: `A SECRETS.md never holds a value: remove \`${key}\`.`,
      })
    }
  })
}
