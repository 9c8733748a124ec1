import { nearest } from './nearest.js'
import { show } from './problem.js'
import type { ProblemCode, ProblemList, ProblemParts } from './problem.js'
import { validator } from './schema-registry.js'
import type { SchemaName } from './schema-registry.js'
import type { Schema, SchemaError, SchemaObject } from './schema-validator.js'
import { locate } from './yaml-tree.js'
import type { YamlTree } from './yaml-tree.js'

/** Checks a tree against a schema; every error of the validator becomes one problem at its place. */
export function checkSchema(name: SchemaName, tree: YamlTree, problems: ProblemList): void {
  const errors = validator.validate(`${name}.schema.json`, tree.value)
  const misspelt = new Set(errors.slice(0, 500).flatMap(misspeltKey))
  const seen = new Set<string>()
  for (const error of errors) {
    if (problems.full) return
    // A misspelt key is one mistake: it is told where it stands, not also as missing.
    if (error.keyword === 'required' && misspelt.has(keyId(error.path, error.key))) continue
    const finding = describe(error, tree)
    if (error.keyword === 'additionalProperties' && problems.hasErrorAt(finding.offset)) continue
    // Two branches of a schema may refuse the same thing.
    const identity = `${finding.code} ${finding.offset} ${finding.message}`
    if (seen.has(identity)) continue
    seen.add(identity)
    problems.error(finding.code, finding.offset, { message: finding.message, ...finding.parts })
  }
}

const keyId = (path: SchemaError['path'], key: string | number | undefined): string => JSON.stringify([...path, key])

/** The key that an unknown key was most likely meant to be. */
function misspeltKey({ keyword, schema, path, key }: SchemaError): readonly string[] {
  const meant = keyword === 'additionalProperties' ? nearest(String(key), knownKeys(schema)) : undefined
  return meant === undefined ? [] : [keyId(path, meant)]
}

const knownKeys = (schema: SchemaObject): readonly string[] =>
  Object.keys((schema['properties'] as object | undefined) ?? {})

interface Finding {
  readonly code: ProblemCode
  readonly message: string
  readonly parts: Omit<ProblemParts, 'message'>
  /** Where in the file; the value itself when absent. */
  readonly offset?: number
}

interface Place {
  /** How people write the path: `modes[0].id`. */
  readonly name: string
  readonly tree: YamlTree
}

type Describe = (error: SchemaError, place: Place) => Finding

function describe(error: SchemaError, tree: YamlTree): Finding & { readonly offset: number } {
  const whole = error.id === 'config.schema.json' ? 'The configuration' : 'The front matter'
  const name = error.path.length === 0 ? whole : `\`${fieldName(error.path)}\``
  const finding = (DESCRIPTIONS[error.keyword] ?? describeOther)(error, { name, tree })
  return { offset: locate(tree, error.path).value, ...finding }
}

const describeMissing: Describe = ({ key, schema, id, path }, { name, tree }) => ({
  code: 'key_missing',
  offset: locate(tree, path).key,
  message: `${name} needs the key \`${key}\`.`,
  parts: {
    expected: phraseOf((schema['properties'] as Readonly<Record<string, Schema>> | undefined)?.[String(key)], id),
  },
})

const describeUnknown: Describe = ({ key, schema, path }, { name, tree }) => {
  const given = String(key)
  const known = knownKeys(schema)
  return {
    code: 'key_unknown',
    offset: locate(tree, [...path, given]).key,
    message: `${name} has no key \`${show(given)}\`.`,
    parts: { expected: `one of ${known.join(', ')}`, given, suggestion: nearest(given, known) },
  }
}

const describeName: Describe = ({ key, schema, id, path }, { name, tree }) => ({
  code: 'value_malformed',
  offset: locate(tree, [...path, String(key)]).key,
  message: `A key of ${name} has the wrong form.`,
  parts: { expected: phraseOf(schema, id), given: key },
})

const describeValue: Describe = ({ schema, data, path }, { name }) => {
  const allowed = ((schema['enum'] ?? [schema['const']]) as readonly unknown[]).map(String)
  return {
    // AIP-45 makes an unknown protocol an error of its own: a host must refuse to load the manifest.
    code: path[0] === 'protocol' ? 'protocol_unsupported' : 'value_unknown',
    message: `${name} has a value that is not allowed.`,
    parts: {
      expected: allowed.length === 1 ? allowed[0] : `one of ${allowed.join(', ')}`,
      given: data,
      suggestion: typeof data === 'string' ? nearest(data, allowed) : undefined,
    },
  }
}

const TYPE_PHRASES: Readonly<Record<string, string>> = {
  string: 'a text',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  array: 'a list',
  object: 'a mapping',
}

const describeType: Describe = ({ schema, id, data }, { name }) => {
  const types = [schema['type'] as string | readonly string[]].flat()
  return {
    code: 'type_mismatch',
    message: `${name} has the wrong type.`,
    parts: {
      expected: phraseOf(schema, id) ?? types.map((type) => TYPE_PHRASES[type] ?? type).join(' or '),
      given: data,
      suggestion: rewritten(data, types),
    },
  }
}

/** The value as the expected type would have it, where there is no doubt. */
function rewritten(data: unknown, types: readonly string[]): string | undefined {
  // YAML reads 1.0, true and 0123456 as numbers and booleans where a text was meant.
  if (types.includes('string') && (typeof data === 'number' || typeof data === 'boolean')) return `"${String(data)}"`
  if (typeof data !== 'string') return undefined
  if (types.includes('boolean'))
    return { true: 'true', yes: 'true', on: 'true', false: 'false', no: 'false', off: 'false' }[data.toLowerCase()]
  if (types.includes('integer') && /^-?\d+$/.test(data)) return data
  return types.includes('array') ? JSON.stringify([data]) : undefined
}

const describeForm: Describe = ({ schema, id, data }, { name }) => ({
  code: 'value_malformed',
  message: `${name} has the wrong form.`,
  parts: { expected: phraseOf(schema, id) ?? `a match of ${String(schema['pattern'])}`, given: data },
})

const describeLimit =
  (code: 'value_out_of_range' | 'value_too_short' | 'value_too_long', unit: string): Describe =>
  ({ keyword, schema, data }, { name }) => ({
    code,
    message: `${name} is ${{ value_out_of_range: 'out of range', value_too_short: 'too short', value_too_long: 'too long' }[code]}.`,
    parts: {
      expected: `at ${keyword.startsWith('min') ? 'least' : 'most'} ${String(schema[keyword])}${unit}`,
      given: data,
    },
  })

const describeDuplicate: Describe = ({ key, data, path }, { name, tree }) => ({
  code: 'item_duplicate',
  offset: locate(tree, [...path, Number(key)]).value,
  message: `${name} holds the same item twice.`,
  parts: { given: (data as readonly unknown[])[Number(key)] },
})

const describeOther: Describe = ({ schema, id, data }, { name }) => ({
  code: 'schema_violated',
  message: `${name} does not fit the schema.`,
  parts: { expected: phraseOf(schema, id), given: data },
})

const DESCRIPTIONS: Readonly<Record<string, Describe>> = {
  required: describeMissing,
  additionalProperties: describeUnknown,
  propertyNames: describeName,
  enum: describeValue,
  const: describeValue,
  type: describeType,
  pattern: describeForm,
  format: describeForm,
  minimum: describeLimit('value_out_of_range', ''),
  maximum: describeLimit('value_out_of_range', ''),
  minLength: describeLimit('value_too_short', ' characters'),
  maxLength: describeLimit('value_too_long', ' characters'),
  minItems: describeLimit('value_too_short', ' items'),
  maxItems: describeLimit('value_too_long', ' items'),
  minProperties: describeLimit('value_too_short', ' keys'),
  maxProperties: describeLimit('value_too_long', ' keys'),
  uniqueItems: describeDuplicate,
}

/** The noun phrase that a schema gives as its title, its own or that of the block it refers to. */
const phraseOf = (schema: Schema | undefined, id: string): string | undefined =>
  schema === undefined ? undefined : (titleOf(schema) ?? titleOf(validator.resolve(schema, id)))

function titleOf(schema: Schema): string | undefined {
  const title = typeof schema === 'boolean' ? undefined : schema['title']
  return typeof title === 'string' ? title : undefined
}

/** `['modes', 0, 'id']` as `modes[0].id`. */
const fieldName = (path: readonly (string | number)[]): string =>
  path.map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${part}`)).join('')
