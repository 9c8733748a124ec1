import type { Tool } from '@modelcontextprotocol/server'

/**
 * Some clients send every argument that is no text as a text of JSON (F72): such texts are parsed where the
 * schema wants no text. What does not parse stays, and is refused with its name.
 */
export function withParsedStrings(args: unknown, { properties = {} }: Tool['inputSchema']): unknown {
  if (typeof args !== 'object' || args === null) return args
  const entries = Object.entries(args)
  if (!entries.some(([, value]) => typeof value === 'string')) return args
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      typeof value === 'string' && !takesText(properties[name]) ? parsed(value) : value,
    ]),
  )
}

function takesText(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return true
  const { type, anyOf } = schema as { type?: unknown; anyOf?: unknown }
  return type === 'string' || (Array.isArray(anyOf) && anyOf.some(takesText))
}

/** What a text of JSON says, or the text where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
