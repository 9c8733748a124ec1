import { asNumber, asRecord, asString, type Json, type TokenUsage } from '@agentproto/contracts'

/**
 * Agents that counted tokens before ACP had `usage` say them in `_meta` of their answer to a prompt, each in its own place. The
 * manifest names the places (`metadata.agentproto.usage`): a kind of tokens and its path, such as `quota.token_count.input_tokens`.
 */
export type UsagePlaces = readonly (readonly [kind: keyof TokenUsage, path: readonly string[]])[]

const KINDS = {
  input_tokens: 'inputTokens',
  output_tokens: 'outputTokens',
  total_tokens: 'totalTokens',
  cached_read_tokens: 'cachedReadTokens',
  cached_write_tokens: 'cachedWriteTokens',
  thought_tokens: 'thoughtTokens',
} as const satisfies Readonly<Record<string, keyof TokenUsage>>

/** The places that a manifest names; what is no place is left out. Undefined for none. */
export function usagePlaces(profile: unknown): UsagePlaces | undefined {
  const named = asRecord(profile)
  const places = Object.entries(KINDS).flatMap(([name, kind]) => {
    const path = asString(named[name])
    return path === undefined || path === '' ? [] : [[kind, path.split('.')] as const]
  })
  return places.length === 0 ? undefined : places
}

/** The tokens that an answer has in these places; undefined where it has none. */
export function usageInMeta({ _meta }: Json, places: UsagePlaces): TokenUsage | undefined {
  const counts = places.flatMap(([kind, path]) => {
    const count = asNumber(path.reduce(memberOf, _meta))
    return count === undefined ? [] : [[kind, count] as const]
  })
  return counts.length === 0 ? undefined : Object.fromEntries(counts)
}

const memberOf = (value: unknown, name: string): unknown => {
  const record = asRecord(value)
  return Object.hasOwn(record, name) ? record[name] : undefined
}
