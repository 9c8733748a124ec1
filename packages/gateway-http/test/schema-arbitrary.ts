import * as fc from 'fast-check'

/** The part of JSON Schema that the gateway's requests are written in. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly minProperties?: number
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
}

/** Values that a schema takes, small ones: its bounds are far beyond what is worth making. */
export function valueOf(schema: Schema): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const branches = schema.anyOf ?? schema.oneOf
  if (branches !== undefined) return fc.oneof(...branches.map(valueOf))
  const { type } = schema
  if (Array.isArray(type)) return fc.oneof(...type.map((each: string) => valueOf({ ...schema, type: each })))
  switch (type) {
    case 'string':
      return textOf(schema)
    case 'integer':
      return fc.integer({ min: Math.max(schema.minimum ?? -10, -1e9), max: Math.min(schema.maximum ?? 1e6, 1e9) })
    case 'number':
      return numberOf(schema)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(valueOf(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, 3),
      })
    case 'object':
      return objectOf(schema)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

const numberOf = ({ minimum: min = -1e9, maximum: max = 1e9 }: Schema): fc.Arbitrary<number> =>
  fc.double({ min, max, noNaN: true })

function textOf({ pattern, format, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  if (format === 'uri') return fc.webUrl()
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern))
  return fc.string({ unit: 'grapheme', minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) })
}

function objectOf({ properties, required = [], additionalProperties, minProperties = 0 }: Schema) {
  if (properties === undefined) {
    const value = typeof additionalProperties === 'object' ? valueOf(additionalProperties) : fc.jsonValue()
    return fc.dictionary(fc.string({ minLength: 1, maxLength: 10 }), value, { maxKeys: 3, noNullPrototype: true })
  }
  const members = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, valueOf(schema)]))
  return fc
    .record(members, { requiredKeys: [...required], noNullPrototype: true })
    .filter((value) => Object.keys(value).length >= minProperties)
}

/** What a schema takes, and then one thing about it is changed: most of these it does not take. */
export function almost(schema: Schema): fc.Arbitrary<unknown> {
  const junk = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom(null, [], {}, '', -1, 1e308, '\0', '../..', true),
  )
  const changed = fc.tuple(valueOf(schema), fc.nat(), junk).map(([value, at, other]) => {
    if (typeof value !== 'object' || value === null) return other
    const names = [...Object.keys(value), 'surplus']
    return { ...value, [names[at % names.length] ?? '']: other }
  })
  return fc.oneof(junk, changed)
}
