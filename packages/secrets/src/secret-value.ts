import { AgentprotoError, type SecretKind } from '@agentproto/contracts'
import * as z from 'zod'

export interface PlainValue {
  readonly kind: Exclude<SecretKind, 'oauth'>
  readonly value: string
}

/** The three parts of an oauth secret; agents are given the access token. */
export interface OauthValue {
  readonly kind: 'oauth'
  readonly accessToken: string
  readonly refreshToken?: string
  /** When the access token ends, ISO-8601. */
  readonly expiresAt?: string
}

export type SecretValue = PlainValue | OauthValue

/** The longest part of a secret: what still fits into an environment beside everything else. */
const PART_CHARS_MAX = 64 * 1024

// A NUL would end the variable in the agent's environment.
const part = z
  .string()
  .min(1)
  .max(PART_CHARS_MAX)
  .refine((text) => !text.includes('\0'), 'no NUL')

export const valueSchema = z.union([
  z.strictObject({ kind: z.enum(['opaque', 'keypair', 'json']), value: part }),
  z.strictObject({
    kind: z.literal('oauth'),
    accessToken: part,
    refreshToken: part.exactOptional(),
    expiresAt: z.iso.datetime({ offset: true }).exactOptional(),
  }),
])

/**
 * Checks a value that somebody gave.
 * @throws `invalid_request`; the message never holds what was given
 */
export function parseSecretValue(value: unknown): SecretValue {
  const result = valueSchema.safeParse(value)
  if (result.success) return result.data
  throw new AgentprotoError('invalid_request', 'The value of the secret is not valid', {
    expected: `a text of 1 to ${PART_CHARS_MAX} characters without NUL, or for oauth an accessToken, a refreshToken and an ISO-8601 expiresAt`,
    data: { field: 'value' },
  })
}

/** What an agent is given of it. */
export const textOf = (value: SecretValue): string => (value.kind === 'oauth' ? value.accessToken : value.value)

/** Every text that must appear nowhere. */
export function confidentialParts(value: SecretValue): readonly string[] {
  if (value.kind !== 'oauth') return [value.value]
  return value.refreshToken === undefined ? [value.accessToken] : [value.accessToken, value.refreshToken]
}
