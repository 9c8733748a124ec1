import { AgentprotoError, isRecord, parseJson } from '@agentproto/contracts'
import * as z from 'zod'

/** Limit of each part of a secret, so that it fits into an environment with everything else. */
const PART_CHARS_MAX = 64 * 1024

// A NUL would truncate the variable in the agent's environment.
const part = z
  .string()
  .min(1)
  .max(PART_CHARS_MAX)
  .refine((text) => !text.includes('\0'), 'no NUL')

export const valueSchema = z.union([
  z.strictObject({ kind: z.enum(['opaque', 'keypair', 'json']), value: part }),
  z.strictObject({
    kind: z.literal('oauth'),
    /** What an agent gets. */
    accessToken: part,
    refreshToken: part.exactOptional(),
    /** When the access token expires, ISO-8601. */
    expiresAt: z.iso.datetime({ offset: true }).exactOptional(),
  }),
])

export type SecretValue = Readonly<z.infer<typeof valueSchema>>
export type OauthValue = Extract<SecretValue, { kind: 'oauth' }>

/**
 * Checks a value.
 * @throws `invalid_request`; the message never contains the value
 */
export function parseSecretValue(value: unknown): SecretValue {
  const result = valueSchema.safeParse(value)
  if (result.success) return result.data
  throw new AgentprotoError('invalid_request', 'The value of the secret is not valid', {
    expected: `a string of 1 to ${PART_CHARS_MAX} characters without NUL, or for oauth an accessToken, a refreshToken and an ISO-8601 expiresAt`,
    data: { field: 'value' },
  })
}

/**
 * The part of a value that a variable gets (AIP-19): the whole value or the access token, or the part that is named.
 * @param field `value`; of an oauth secret `accessToken`, `refreshToken` or `expiresAt`; of another kind a key of its JSON
 * @returns undefined for a part that the value does not have
 */
export function partOf(value: SecretValue, field = 'value'): string | undefined {
  if (value.kind === 'oauth') return field === 'value' ? value.accessToken : ownText(value, field)
  if (value.kind === 'opaque') return field === 'value' ? value.value : undefined
  const parsed = parseJson(value.value)
  const own = ownText(parsed, field)
  // A key that is not JSON is the private part of a pair.
  const isWhole = field === 'value' || (field === 'private' && !isRecord(parsed))
  return own ?? (isWhole ? value.value : undefined)
}

function ownText(parts: unknown, field: string): string | undefined {
  if (!isRecord(parts) || !Object.hasOwn(parts, field) || field === 'kind') return undefined
  const own = parts[field]
  return typeof own === 'string' ? own : JSON.stringify(own)
}

/** Every part that must be redacted. */
export function confidentialParts(value: SecretValue): readonly string[] {
  if (value.kind !== 'oauth') return [value.value]
  return value.refreshToken === undefined ? [value.accessToken] : [value.accessToken, value.refreshToken]
}
