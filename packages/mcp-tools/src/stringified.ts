import { parseJson } from '@agentproto/contracts'
import type { Tool } from '@modelcontextprotocol/server'

/** Parses arguments that came as JSON strings (F72) where the schema takes no string; what does not parse is kept. */
export function withParsedStrings(args: unknown, { properties = {} }: Tool['inputSchema']): unknown {
  if (typeof args !== 'object' || args === null) return args
  const entries = Object.entries(args)
  if (!entries.some(([, value]) => typeof value === 'string')) return args
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      typeof value === 'string' && !acceptsString(properties[name]) ? parsed(value) : value,
    ]),
  )
}

function acceptsString(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return true
  const { type, anyOf } = schema as { type?: unknown; anyOf?: unknown }
  return type === 'string' || (Array.isArray(anyOf) && anyOf.some(acceptsString))
}

/** The value of a JSON string, or the string itself if it is not JSON. */
export function parsed(text: string): unknown {
  const value = parseJson(text)
  return value === undefined ? text : value
}
