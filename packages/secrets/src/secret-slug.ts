import { AgentprotoError } from '@agentproto/contracts'

/** AIP-19: `anthropic-api-key`, or with an owner `acme/deploy-key`. */
const SLUG = /^([a-z][a-z0-9-]*[a-z0-9]\/)?[a-z][a-z0-9-]*[a-z0-9]$/
const SLUG_CHARS_MAX = 80

/** Whether a text is a valid name of a secret (AIP-19). */
export const isSecretSlug = (slug: string): boolean => slug.length <= SLUG_CHARS_MAX && SLUG.test(slug)

/** @throws `invalid_request` */
export function checkSlug(slug: string): void {
  if (isSecretSlug(slug)) return
  throw new AgentprotoError('invalid_request', 'The slug of the secret is not valid', {
    expected: 'two to eighty lower-case letters, digits and dashes, such as anthropic-api-key or acme/deploy-key',
    given: slug,
    data: { field: 'slug' },
  })
}
