import {
  atLeast,
  atMost,
  bound,
  characters,
  FORMATS,
  isObject,
  items,
  keys,
  matches,
  number,
  TYPES,
} from './schema-values.js'

/**
 * An interpreter of JSON Schema 2020-12 for the keywords that our schemas use. It takes the place of a compiling
 * validator because a manifest is checked once, at a start that people wait for: loading and compiling
 * took a hundred times as long as the check. A test holds it against ajv.
 */

export type Schema = boolean | SchemaObject

export interface SchemaObject {
  readonly [keyword: string]: unknown
}

export interface SchemaError {
  readonly keyword: string
  /** Where in the value. */
  readonly path: readonly (string | number)[]
  /** The schema that refuses it, and the `$id` of its file. */
  readonly schema: SchemaObject
  readonly id: string
  readonly data: unknown
  /** The key that is missing, unknown or malformed, or the index of an item that is there twice. */
  readonly key?: string | number
}

/** The keywords below, and those that only inform. */
export const KEYWORDS: ReadonlySet<string> = new Set(
  [
    [
      '$schema',
      '$id',
      '$defs',
      'title',
      'description',
      'default',
      '$ref',
      'type',
      'enum',
      'const',
      'pattern',
      'format',
    ],
    ['minLength', 'maxLength', 'minimum', 'maximum', 'items', 'minItems', 'maxItems', 'uniqueItems', 'allOf', 'not'],
    ['required', 'properties', 'additionalProperties', 'propertyNames', 'minProperties', 'maxProperties'],
    ['if', 'then', 'else'],
  ].flat(),
)

export interface Validator {
  /** All errors, in the order of the schema. */
  validate(id: string, value: unknown): readonly SchemaError[]
  /** The schema itself, or the one that its `$ref` leads to from the file with this `$id`. */
  resolve(schema: Schema, id: string): Schema
}

/** Makes a validator of schemas that refer to each other by `$id`. */
export function createValidator(schemas: readonly SchemaObject[]): Validator {
  const byId = new Map(schemas.map((schema) => [String(schema['$id']), schema]))
  const resolve = (schema: Schema, id: string): Schema => {
    if (typeof schema === 'boolean' || typeof schema['$ref'] !== 'string') return schema
    return follow(byId, schema['$ref'], id).schema
  }
  return {
    validate(id, value) {
      const root = byId.get(id)
      if (root === undefined) throw new Error(`There is no schema ${id}.`)
      const errors: SchemaError[] = []
      new Visit(byId, errors).check(root, { id, value, at: undefined })
      return errors
    },
    resolve,
  }
}

interface Target {
  readonly id: string
  readonly schema: Schema
}

const followed = new WeakMap<ReadonlyMap<string, SchemaObject>, Map<string, Target>>()

/** The schema of a reference such as `blocks.schema.json#/$defs/id`, and the file that it is in; looked up once. */
function follow(byId: ReadonlyMap<string, SchemaObject>, reference: string, from: string): Target {
  let targets = followed.get(byId)
  if (targets === undefined) followed.set(byId, (targets = new Map()))
  const key = reference.startsWith('#') ? from + reference : reference
  let target = targets.get(key)
  // Bounded by the references that the schemas hold.
  if (target === undefined) targets.set(key, (target = lookUp(byId, reference, from)))
  return target
}

function lookUp(byId: ReadonlyMap<string, SchemaObject>, reference: string, from: string): Target {
  const [file = '', pointer = ''] = reference.split('#')
  const id = file === '' ? from : file
  let schema: unknown = byId.get(id)
  for (const step of pointer.split('/').slice(1)) schema = (schema as SchemaObject | undefined)?.[step]
  if (schema === undefined) throw new Error(`The schema ${from} refers to ${reference}, which is not there.`)
  return { id, schema: schema as Schema }
}

interface Subject {
  /** The file that the schema is in. */
  readonly id: string
  readonly value: unknown
  readonly at: Step | undefined
}

/** A subject that is refused, with the key or index that is to blame. */
interface Refused extends Subject {
  readonly key?: string | number
}

/** A path as a chain, since nearly none is ever asked for. */
interface Step {
  readonly key: string | number
  readonly parent: Step | undefined
}

function pathTo(step: Step | undefined): readonly (string | number)[] {
  const path: (string | number)[] = []
  for (let at = step; at !== undefined; at = at.parent) path.unshift(at.key)
  return path
}

type Check = (visit: Visit, schema: SchemaObject, subject: Subject) => void

const plans = new WeakMap<SchemaObject, readonly Check[]>()

/** The checks of the keywords that a schema has. */
function planOf(schema: SchemaObject): readonly Check[] {
  let plan = plans.get(schema)
  if (plan === undefined) {
    plan = CHECKS.filter(([keyword]) => schema[keyword] !== undefined).map(([, check]) => check)
    plans.set(schema, plan)
  }
  return plan
}

class Visit {
  readonly byId: ReadonlyMap<string, SchemaObject>
  readonly errors: SchemaError[]

  constructor(byId: ReadonlyMap<string, SchemaObject>, errors: SchemaError[]) {
    this.byId = byId
    this.errors = errors
  }

  check(schema: Schema, subject: Subject): void {
    if (schema === true) return
    if (schema === false) return this.refuse('not', {}, subject)
    for (const run of planOf(schema)) run(this, schema, subject)
  }

  /** Whether a schema takes a value, without saying why not. */
  takes(schema: Schema, subject: Subject): boolean {
    const errors: SchemaError[] = []
    new Visit(this.byId, errors).check(schema, subject)
    return errors.length === 0
  }

  refuse(keyword: string, schema: SchemaObject, { id, value, at, key }: Refused): void {
    this.errors.push({ keyword, path: pathTo(at), schema, id, data: value, ...(key === undefined ? {} : { key }) })
  }
}

/** A check of one keyword that needs nothing but the value. */
const simple =
  (keyword: string, isFine: (value: unknown, limit: unknown) => boolean): Check =>
  (visit, schema, subject) => {
    if (!isFine(subject.value, schema[keyword])) visit.refuse(keyword, schema, subject)
  }

/** In the order in which errors are told. */
const CHECKS: readonly (readonly [keyword: string, check: Check])[] = [
  [
    '$ref',
    (visit, schema, { id, value, at }) => {
      const target = follow(visit.byId, String(schema['$ref']), id)
      visit.check(target.schema, { id: target.id, value, at })
    },
  ],
  ['type', simple('type', isOfType)],
  ['enum', simple('enum', (value, allowed) => (allowed as readonly unknown[]).includes(value))],
  ['const', simple('const', (value, only) => value === only)],
  ['pattern', simple('pattern', (value, pattern) => typeof value !== 'string' || matches(String(pattern), value))],
  ['format', simple('format', (value, name) => typeof value !== 'string' || FORMATS[String(name)]?.(value) === true)],
  ['minLength', simple('minLength', bound(characters, atLeast))],
  ['maxLength', simple('maxLength', bound(characters, atMost))],
  ['minimum', simple('minimum', bound(number, atLeast))],
  ['maximum', simple('maximum', bound(number, atMost))],
  ['minItems', simple('minItems', bound(items, atLeast))],
  ['maxItems', simple('maxItems', bound(items, atMost))],
  ['minProperties', simple('minProperties', bound(keys, atLeast))],
  ['maxProperties', simple('maxProperties', bound(keys, atMost))],
  ['items', checkItems],
  ['uniqueItems', checkUnique],
  ['required', checkRequired],
  ['properties', checkProperties],
  ['additionalProperties', checkAdditional],
  ['propertyNames', checkNames],
  [
    'allOf',
    (visit, schema, subject) => (schema['allOf'] as readonly Schema[]).forEach((part) => visit.check(part, subject)),
  ],
  [
    'not',
    (visit, schema, subject) => {
      if (visit.takes(schema['not'] as Schema, subject)) visit.refuse('not', schema, subject)
    },
  ],
  [
    'if',
    (visit, schema, subject) => {
      const branch = visit.takes(schema['if'] as Schema, subject) ? schema['then'] : schema['else']
      if (branch !== undefined) visit.check(branch as Schema, subject)
    },
  ],
]

function isOfType(value: unknown, types: unknown): boolean {
  if (typeof types === 'string') return TYPES[types]?.(value) === true
  return (types as readonly string[]).some((type) => TYPES[type]?.(value) === true)
}

function checkItems(visit: Visit, schema: SchemaObject, { id, value, at }: Subject): void {
  if (!Array.isArray(value)) return
  const part = schema['items'] as Schema
  value.forEach((item: unknown, index) => visit.check(part, { id, value: item, at: { key: index, parent: at } }))
}

function checkUnique(visit: Visit, schema: SchemaObject, subject: Subject): void {
  if (schema['uniqueItems'] !== true || !Array.isArray(subject.value)) return
  const seen = new Set<string>()
  subject.value.forEach((item: unknown, index) => {
    const text = JSON.stringify(item)
    if (seen.has(text)) visit.refuse('uniqueItems', schema, { ...subject, key: index })
    seen.add(text)
  })
}

function checkRequired(visit: Visit, schema: SchemaObject, subject: Subject): void {
  if (!isObject(subject.value)) return
  for (const key of schema['required'] as readonly string[]) {
    if (!Object.hasOwn(subject.value, key)) visit.refuse('required', schema, { ...subject, key })
  }
}

function checkProperties(visit: Visit, schema: SchemaObject, { id, value, at }: Subject): void {
  if (!isObject(value)) return
  const properties = schema['properties'] as Readonly<Record<string, Schema>>
  for (const key of Object.keys(value)) {
    const part = Object.hasOwn(properties, key) ? properties[key] : undefined
    if (part !== undefined) visit.check(part, { id, value: value[key], at: { key, parent: at } })
  }
}

function checkAdditional(visit: Visit, schema: SchemaObject, subject: Subject): void {
  const { id, value, at } = subject
  const part = schema['additionalProperties'] as Schema
  if (!isObject(value) || part === true) return
  const known = schema['properties'] ?? {}
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(known, key)) continue
    if (part === false) visit.refuse('additionalProperties', schema, { ...subject, key })
    else visit.check(part, { id, value: value[key], at: { key, parent: at } })
  }
}

/** A key that is refused is told once, with the schema that refuses it. */
function checkNames(visit: Visit, schema: SchemaObject, subject: Subject): void {
  if (!isObject(subject.value)) return
  for (const key of Object.keys(subject.value)) {
    const errors: SchemaError[] = []
    new Visit(visit.byId, errors).check(schema['propertyNames'] as Schema, { ...subject, value: key })
    const [first] = errors
    if (first !== undefined) visit.refuse('propertyNames', first.schema, { ...subject, key })
  }
}
