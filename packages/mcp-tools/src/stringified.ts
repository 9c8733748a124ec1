import { parseJson } from '@agentproto/contracts'
import type { Tool } from '@modelcontextprotocol/server'

/**
 * Some clients send arguments that are not strings as JSON strings (F72). They are parsed where the schema does not accept a
 * string. What does not parse is kept, and refused by the schema.
 */
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
