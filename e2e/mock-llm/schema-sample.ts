import { listOf, objectOf, textOf, type Json, type JsonObject } from './json.js'

const MAX_DEPTH = 6

/** The smallest value that a JSON Schema allows, with the field name as text. */
export function sampleOf(schema: Json | undefined, name = 'text', depth = 0): Json {
  const { const: constant, enum: values, anyOf, oneOf, ...rest } = objectOf(schema)
  if (depth > MAX_DEPTH) return null
  if (constant !== undefined) return constant
  const [first] = listOf(values)
  if (first !== undefined) return first
  const choices = listOf(anyOf ?? oneOf)
  if (choices.length > 0)
    return sampleOf(
      choices.find((one) => objectOf(one)['type'] !== 'null'),
      name,
      depth + 1,
    )
  return sampleOfType(rest, name, depth)
}

function sampleOfType(schema: JsonObject, name: string, depth: number): Json {
  switch (typeOf(schema)) {
    case 'object':
      return sampleObject(schema, depth)
    case 'array': {
      const length = typeof schema['minItems'] === 'number' ? schema['minItems'] : 1
      return Array.from({ length }, () => sampleOf(schema['items'], name, depth + 1))
    }
    case 'boolean':
      return false
    case 'number':
    case 'integer':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 1
    default:
      return `mock ${name}`
  }
}

function typeOf({ type, properties }: JsonObject): string {
  const given = Array.isArray(type) ? type.find((one) => one !== 'null') : type
  return (textOf(given) || (properties ? 'object' : 'string')).toLowerCase()
}

/** Only the required members. */
export function sampleObject(schema: JsonObject, depth = 0): JsonObject {
  const properties = objectOf(schema['properties'])
  const names = listOf(schema['required']).map(textOf)
  return Object.fromEntries(names.map((name) => [name, sampleOf(properties[name], name, depth + 1)]))
}
