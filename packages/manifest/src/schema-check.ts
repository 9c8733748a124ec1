import type { ErrorObject } from 'ajv/dist/2020.js'
import { nearest } from './nearest.js'
import { show } from './problem.js'
import type { ProblemCode, ProblemList, ProblemParts } from './problem.js'
import { validatorOf } from './schema-registry.js'
import type { SchemaName } from './schema-registry.js'
import { locate } from './yaml-tree.js'
import type { YamlTree } from './yaml-tree.js'

/** Checks a tree against a schema; every error of the validator becomes one problem at its place. */
export function checkSchema(name: SchemaName, tree: YamlTree, problems: ProblemList): void {
  const validate = validatorOf(name)
  if (validate(tree.value)) return
  const seen = new Set<string>()
  for (const error of validate.errors ?? []) {
    // The outcome of `if` says nothing beyond what its branch said.
    if (error.keyword === 'if' || error.keyword === 'propertyNames') continue
    const finding = describe(error, tree)
    // Two branches of a schema may refuse the same thing.
    const identity = `${finding.code} ${finding.offset} ${finding.message}`
    if (seen.has(identity)) continue
    seen.add(identity)
    problems.error(finding.code, finding.offset, finding.message, finding.parts)
  }
}

interface Finding {
  readonly code: ProblemCode
  readonly offset: number
  readonly message: string
  readonly parts: ProblemParts
}

type Describe = (error: ErrorObject, place: Place) => Omit<Finding, 'offset'> & { readonly offset?: number }

interface Place {
  readonly path: readonly string[]
  /** How people write the path: `modes[0].id`. */
  readonly name: string
  readonly tree: YamlTree
}

function describe(error: ErrorObject, tree: YamlTree): Finding {
  const path = error.instancePath.split('/').slice(1).map(unescapePointer)
  const place: Place = { path, name: fieldName(path), tree }
  const described = (DESCRIPTIONS[error.keyword] ?? describeOther)(error, place)
  return { offset: locate(tree, path).value, ...described }
}

const describeMissing: Describe = ({ params, parentSchema }, { path, name, tree }) => {
  const key = String(params['missingProperty'])
  const expected = phraseOf((parentSchema?.['properties'] as Record<string, unknown> | undefined)?.[key])
  return {
    code: 'key_missing',
    offset: locate(tree, path).key,
    message: `${path.length === 0 ? 'The front matter' : `\`${name}\``} needs the key \`${key}\`.`,
    parts: { expected },
  }
}

const describeUnknown: Describe = ({ params, parentSchema }, { path, name, tree }) => {
  const key = String(params['additionalProperty'] ?? params['unevaluatedProperty'])
  const known = Object.keys((parentSchema?.['properties'] as object | undefined) ?? {})
  return {
    code: 'key_unknown',
    offset: locate(tree, [...path, key]).key,
    message: `${path.length === 0 ? 'The front matter' : `\`${name}\``} has no key \`${show(key)}\`.`,
    parts: { expected: `one of ${known.join(', ')}`, given: key, suggestion: nearest(key, known) },
  }
}

const describeValue: Describe = ({ params, data }, { name }) => {
  const allowed = (params['allowedValues'] ?? [params['allowedValue']]) as readonly unknown[]
  const texts = allowed.map(String)
  return {
    code: 'value_unknown',
    message: `\`${name}\` has a value that is not allowed.`,
    parts: {
      expected: texts.length === 1 ? texts[0] : `one of ${texts.join(', ')}`,
      given: data,
      suggestion: typeof data === 'string' ? nearest(data, texts) : undefined,
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

const describeType: Describe = ({ params, data, parentSchema }, { name }) => {
  const types = [params['type'] as string | readonly string[]].flat()
  const phrase = phraseOf(parentSchema) ?? types.map((type) => TYPE_PHRASES[type] ?? type).join(' or ')
  // YAML reads 1.0, yes-less true and 0123456 as numbers and booleans where a text was meant.
  const quotable = types.includes('string') && (typeof data === 'number' || typeof data === 'boolean')
  return {
    code: 'type_mismatch',
    message: `\`${name}\` has the wrong type.`,
    parts: { expected: phrase, given: data, suggestion: quotable ? `"${String(data)}"` : rewritten(data, types) },
  }
}

/** The value as the expected type would have it, where there is no doubt. */
function rewritten(data: unknown, types: readonly string[]): string | undefined {
  if (types.includes('boolean') && typeof data === 'string') return { true: 'true', yes: 'true', false: 'false', no: 'false' }[data.toLowerCase()]
  if (types.includes('integer') && typeof data === 'string' && /^-?\d+$/.test(data)) return data
  return types.includes('array') && typeof data === 'string' ? JSON.stringify([data]) : undefined
}

const describePattern: Describe = ({ data, parentSchema, propertyName }, { path, name, tree }) => {
  const expected = phraseOf(parentSchema) ?? `a match of ${String(parentSchema?.['pattern'])}`
  if (propertyName === undefined) {
    return { code: 'value_malformed', message: `\`${name}\` has the wrong form.`, parts: { expected, given: data } }
  }
  return {
    code: 'value_malformed',
    offset: locate(tree, [...path, propertyName]).key,
    message: `A key of \`${name}\` has the wrong form.`,
    parts: { expected, given: propertyName },
  }
}

const describeBound: Describe = ({ params, data }, { name }) => ({
  code: 'value_out_of_range',
  message: `\`${name}\` is out of range.`,
  parts: { expected: `${params['comparison'] === '<=' ? 'at most' : 'at least'} ${String(params['limit'])}`, given: data },
})

const describeLength =
  (code: 'value_too_short' | 'value_too_long', unit: string): Describe =>
  ({ params, data }, { name }) => ({
    code,
    message: `\`${name}\` is too ${code === 'value_too_short' ? 'short' : 'long'}.`,
    parts: {
      expected: `at ${code === 'value_too_short' ? 'least' : 'most'} ${String(params['limit'])} ${unit}`,
      given: data,
    },
  })

const describeDuplicate: Describe = ({ params, data }, { path, name, tree }) => {
  const index = Math.max(Number(params['i']), Number(params['j']))
  return {
    code: 'item_duplicate',
    offset: locate(tree, [...path, String(index)]).value,
    message: `\`${name}\` holds the same item twice.`,
    parts: { given: (data as readonly unknown[])[index] },
  }
}

const describeOther: Describe = ({ message, data, parentSchema }, { name }) => ({
  code: 'schema_violated',
  message: `\`${name === '' ? 'front matter' : name}\` ${message ?? 'does not fit the schema'}.`,
  parts: { expected: phraseOf(parentSchema), given: data },
})

const DESCRIPTIONS: Readonly<Record<string, Describe>> = {
  required: describeMissing,
  additionalProperties: describeUnknown,
  unevaluatedProperties: describeUnknown,
  enum: describeValue,
  const: describeValue,
  type: describeType,
  pattern: describePattern,
  format: describePattern,
  minimum: describeBound,
  maximum: describeBound,
  minLength: describeLength('value_too_short', 'characters'),
  maxLength: describeLength('value_too_long', 'characters'),
  minItems: describeLength('value_too_short', 'items'),
  minProperties: describeLength('value_too_short', 'keys'),
  maxProperties: describeLength('value_too_long', 'keys'),
  uniqueItems: describeDuplicate,
}

/** The noun phrase that a schema gives as its title, also through a reference within the same file set. */
function phraseOf(schema: unknown): string | undefined {
  const title = (schema as { readonly title?: unknown } | undefined)?.title
  return typeof title === 'string' ? title : undefined
}

const unescapePointer = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~')

/** `['modes', '0', 'id']` as `modes[0].id`. */
export const fieldName = (path: readonly (string | number)[]): string =>
  path.map((part, index) => (/^\d+$/.test(String(part)) ? `[${part}]` : `${index === 0 ? '' : '.'}${part}`)).join('')
