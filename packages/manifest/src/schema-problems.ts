import type { ErrorObject } from 'ajv/dist/2020.js'
import { nearest } from './nearest.js'
import { type ProblemCode, type ProblemList, type ProblemParts, show } from './problem.js'
import { type SchemaName, schemas } from './schemas.js'
import type { Validator } from './validators/compile-validator.js'
import { inQuotes } from './yaml-remedy.js'
import { locate, treeAt, type YamlTree } from './yaml-tree.js'

/** Checks a tree against a schema; every error of the validator becomes one problem at its place. */
export function checkSchema(name: SchemaName, validate: Validator, { tree, problems }: Checked): void {
  if (validate(tree.value)) return
  const errors = (validate.errors ?? []).filter(isMistake).map((error) => placed(error, name, tree))
  const misspelt = new Set(errors.slice(0, 500).flatMap(misspeltKey))
  const seen = new Set<string>()
  for (const error of errors) {
    if (problems.full) return
    // A misspelt key is one mistake: it is reported where it is, and not also as missing.
    if (error.keyword === 'required' && misspelt.has(keyId(error.path, missingKey(error)))) continue
    const { code, offset, ...parts } = describe(error)
    // Two branches of a schema may refuse the same thing.
    const identity = `${code} ${offset} ${parts.message}`
    if (seen.has(identity) || (error.keyword === 'additionalProperties' && problems.hasErrorAt(offset))) continue
    seen.add(identity)
    problems.error(code, offset, parts)
  }
}

export interface Checked {
  readonly tree: YamlTree
  readonly problems: ProblemList
}

type Schema = Readonly<Record<string, unknown>>
type Path = readonly (string | number)[]

/** An error of ajv with the place that it is about. */
interface Mistake extends Pick<ErrorObject, 'keyword' | 'data' | 'propertyName'> {
  readonly params: Readonly<Record<string, unknown>>
  /** The schema that refused the value. */
  readonly schema: Schema
  readonly path: Path
  /** How people write the path: `modes[0].id`. */
  readonly field: string
  readonly tree: YamlTree
  /** What a schema expects, as a noun phrase. */
  readonly phraseOf: (schema: unknown) => string | undefined
}

/** `if` and `propertyNames` only repeat that a schema inside them refused something. */
const isMistake = ({ keyword }: ErrorObject): boolean => keyword !== 'if' && keyword !== 'propertyNames'

function placed(error: ErrorObject, name: SchemaName, tree: YamlTree): Mistake {
  const path = pathIn(tree, error.instancePath)
  const whole = name === 'config' ? 'The configuration' : 'The front matter'
  const field = path.length === 0 ? whole : `\`${fieldName(path)}\``
  return { ...error, schema: error.parentSchema ?? {}, path, field, tree, phraseOf: (schema) => titleOf(schema, name) }
}

/** A JSON pointer as a path: only the tree says whether `0` is an index or a key. */
function pathIn(tree: YamlTree, pointer: string): Path {
  let at: YamlTree | undefined = tree
  const steps = pointer.split('/').slice(1)
  return steps.map((escaped) => {
    const step = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
    const index = at?.items === undefined ? undefined : Number(step)
    at = index === undefined ? at?.entries?.get(step)?.tree : at?.items?.[index]
    return index ?? step
  })
}

/** `['modes', 0, 'id']` as `modes[0].id`. */
const fieldName = (path: Path): string =>
  path.map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${part}`)).join('')

const keyId = (path: Path, key: string): string => JSON.stringify([...path, key])
const missingKey = ({ params }: Mistake): string => String(params['missingProperty'])
const unknownKey = ({ params }: Mistake): string => String(params['additionalProperty'])

/** The key that an unknown key was most likely meant to be. */
function misspeltKey(error: Mistake): readonly string[] {
  if (error.keyword !== 'additionalProperties') return []
  const meant = nearest(unknownKey(error), knownKeys(error.schema))
  return meant === undefined ? [] : [keyId(error.path, meant)]
}

const propertiesOf = ({ properties }: Schema): Readonly<Record<string, unknown>> =>
  (properties ?? {}) as Readonly<Record<string, unknown>>
const knownKeys = (schema: Schema): readonly string[] => Object.keys(propertiesOf(schema))

interface Finding extends ProblemParts {
  readonly code: ProblemCode
  /** Where in the file; the value itself when absent. */
  readonly offset?: number
}

type Describe = (error: Mistake) => Finding

function describe(error: Mistake): Finding & { readonly offset: number } {
  const describeKeyword = error.propertyName === undefined ? DESCRIPTIONS[error.keyword] : describeName
  return {
    offset: locate(error.tree, error.path).value,
    ...(describeKeyword ?? describeMismatch('schema_violated', 'does not match the schema'))(error),
  }
}

const describeMissing: Describe = (error) => ({
  code: 'key_missing',
  offset: locate(error.tree, error.path).key,
  message: `${error.field} needs the key \`${missingKey(error)}\`.`,
  expected: error.phraseOf(propertiesOf(error.schema)[missingKey(error)]),
})

const describeUnknown: Describe = (error) => {
  const given = unknownKey(error)
  const known = knownKeys(error.schema)
  const suggestion = nearest(given, known)
  return {
    code: 'key_unknown',
    offset: locate(error.tree, [...error.path, given]).key,
    message: `${error.field} has no key \`${show(given)}\`.`,
    // A long list would hide the suggestion.
    expected: suggestion === undefined || known.length <= 12 ? `one of ${known.join(', ')}` : undefined,
    given,
    suggestion,
  }
}

const describeName: Describe = ({ propertyName = '', field, path, schema, tree, phraseOf }) => ({
  code: 'value_malformed',
  offset: locate(tree, [...path, propertyName]).key,
  message: `A key of ${field} has the wrong form.`,
  expected: phraseOf(schema),
  given: propertyName,
})

const describeValue: Describe = ({ schema, data, path, field }) => {
  const allowed = ((schema['enum'] ?? [schema['const']]) as readonly unknown[]).map(String)
  return {
    // AIP-45 makes an unknown protocol an error of its own: a host must refuse to load the manifest.
    code: path[0] === 'protocol' ? 'protocol_unsupported' : 'value_unknown',
    message: `${field} has a value that is not allowed.`,
    expected: allowed.length === 1 ? allowed[0] : `one of ${allowed.join(', ')}`,
    given: data,
    suggestion: typeof data === 'string' ? nearest(data, allowed) : undefined,
  }
}

const TYPE_PHRASES: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  array: 'a list',
  object: 'a mapping',
}

const describeType: Describe = ({ schema, data, field, path, tree, phraseOf }) => {
  const types = [schema['type'] as string | readonly string[]].flat()
  const written = treeAt(tree, path)?.source ?? data
  return {
    code: 'type_mismatch',
    message: `${field} has the wrong type.`,
    expected: phraseOf(schema) ?? types.map((type) => TYPE_PHRASES[type] ?? type).join(' or '),
    given: written,
    suggestion: (isVersion(schema) ? wholeVersion(written) : undefined) ?? rewritten(written, data, types),
  }
}

const BOOLEANS: Readonly<Record<string, string>> = {
  true: 'true',
  yes: 'true',
  on: 'true',
  false: 'false',
  no: 'false',
  off: 'false',
}

/** The value as the expected type would have it, where there is no doubt. */
function rewritten(written: unknown, data: unknown, types: readonly string[]): string | undefined {
  // YAML reads 1.0, true and 0123456 as numbers and booleans where a string was meant.
  if (types.includes('string') && (typeof data === 'number' || typeof data === 'boolean')) return `"${String(written)}"`
  // Braces and brackets of a text, such as {value}, are a mapping or a list to YAML.
  if (types.includes('string') && isBare(data)) return inQuotes(bareText(data))
  if (typeof data !== 'string') return undefined
  if (types.includes('boolean')) return BOOLEANS[data.toLowerCase()]
  if (types.includes('integer') && /^-?\d+$/.test(data)) return data
  return types.includes('array') ? JSON.stringify([data]) : undefined
}

/** A list of texts, or a mapping of keys without values, as `[beta]` and `{value}` are read. */
const isBare = (data: unknown): data is readonly string[] | Readonly<Record<string, null>> =>
  typeof data === 'object' &&
  data !== null &&
  Object.values(data).length > 0 &&
  Object.values(data).every((each) => (Array.isArray(data) ? typeof each === 'string' : each === null))

const bareText = (data: readonly string[] | Readonly<Record<string, null>>): string =>
  Array.isArray(data) ? `[${data.join(', ')}]` : `{${Object.keys(data).join(', ')}}`

const VERSION_TITLE = schemas.blocks.$defs.semver.title
const isVersion = ({ title }: Schema): boolean => title === VERSION_TITLE

/** `1.0` and `v1` as the whole versions that they stand for. */
function wholeVersion(written: unknown): string | undefined {
  if (typeof written !== 'string' && typeof written !== 'number') return undefined
  const [, ...parts] = /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?$/.exec(String(written).trim()) ?? []
  return parts.length === 0 ? undefined : parts.map((part) => Number(part ?? 0)).join('.')
}

const describeMismatch =
  (code: ProblemCode, verdict: string): Describe =>
  ({ schema, data, field, phraseOf }) => ({
    code,
    message: `${field} ${verdict}.`,
    expected:
      phraseOf(schema) ?? (typeof schema['pattern'] === 'string' ? `a match of ${schema['pattern']}` : undefined),
    given: data,
    suggestion: isVersion(schema) ? wholeVersion(data) : undefined,
  })

const describeLimit =
  (code: ProblemCode, verdict: string, unit = ''): Describe =>
  ({ keyword, schema, data, field }) => ({
    code,
    message: `${field} is ${verdict}.`,
    expected: `at ${keyword.startsWith('min') ? 'least' : 'most'} ${String(schema[keyword])}${unit}`,
    given: data,
  })

const describeDuplicate: Describe = ({ params, data, path, field, tree }) => {
  const index = Math.max(Number(params['i']), Number(params['j']))
  return {
    code: 'item_duplicate',
    offset: locate(tree, [...path, index]).value,
    message: `${field} contains the same item twice.`,
    expected: 'each item once',
    given: (data as readonly unknown[])[index],
  }
}

const DESCRIPTIONS: Readonly<Record<string, Describe>> = {
  required: describeMissing,
  additionalProperties: describeUnknown,
  enum: describeValue,
  const: describeValue,
  type: describeType,
  pattern: describeMismatch('value_malformed', 'has the wrong form'),
  format: describeMismatch('value_malformed', 'has the wrong form'),
  minimum: describeLimit('value_out_of_range', 'out of range'),
  maximum: describeLimit('value_out_of_range', 'out of range'),
  minLength: describeLimit('value_too_short', 'too short', ' characters'),
  maxLength: describeLimit('value_too_long', 'too long', ' characters'),
  minItems: describeLimit('value_too_short', 'too short', ' items'),
  maxItems: describeLimit('value_too_long', 'too long', ' items'),
  minProperties: describeLimit('value_too_short', 'too short', ' keys'),
  maxProperties: describeLimit('value_too_long', 'too long', ' keys'),
  uniqueItems: describeDuplicate,
}

/** The noun phrase that a schema gives as its title, its own or that of the block it refers to. */
function titleOf(schema: unknown, name: SchemaName): string | undefined {
  const { title, $ref } = (schema ?? {}) as Schema
  if (typeof title === 'string') return title
  return typeof $ref === 'string' ? titleOf(definitionOf($ref, name), name) : undefined
}

/** `#/$defs/id` is a definition of the file itself or, within a shared block, of the blocks. */
function definitionOf(ref: string, name: SchemaName): unknown {
  const key = ref.slice(ref.lastIndexOf('/') + 1)
  const own = ((schemas[name] as Schema)['$defs'] ?? {}) as Schema
  return ref.startsWith('#') && key in own ? own[key] : (schemas.blocks.$defs as Schema)[key]
}
