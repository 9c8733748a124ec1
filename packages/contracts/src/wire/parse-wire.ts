import type { z } from 'zod'
import { AgentprotoError } from '../errors.js'

/**
 * Parses the input of a caller with a wire schema. HTTP and MCP report the same errors.
 * @param subject What is parsed, for the message: `body`, `query`, `arguments`
 * @returns the parsed value, with its defaults
 * @throws `invalid_request` with the first invalid field, what was expected and what was given
 */
export function parseWire<S extends z.ZodType>(schema: S, value: unknown, subject: string): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const { path, field = path, expected, given, what } = describe(result.error.issues[0], value)
  throw new AgentprotoError('invalid_request', what ?? `The ${path === '' ? subject : `field "${path}"`} is invalid`, {
    expected,
    given,
    data: { field },
  })
}

type Issue = z.core.$ZodIssue

interface Complaint {
  readonly path: string
  /** The field for programs, if it is not the path. */
  readonly field?: string
  readonly expected: string
  /** A description, never the value of an object, which may be too deep to serialise. */
  readonly given: string
  readonly what?: string
}

function describe(issue: Issue | undefined, root: unknown): Complaint {
  if (issue === undefined) return { path: '', expected: 'something else', given: words(root) }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) return describeUnion(issue.errors, issue.path, root)
  const path = issue.path.map(String).join('.')
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.map((key) => JSON.stringify(key)).join(', ')
    const field = [path, issue.keys[0]].filter(Boolean).join('.')
    return {
      path,
      field,
      expected: `no ${keys}`,
      given: words(valueAt(root, issue.path)),
      what: 'Unknown field',
    }
  }
  return { path, expected: expectation(issue), given: words(valueAt(root, issue.path)) }
}

/** Describes the branch that matches best; without one, all branches. */
function describeUnion(
  branches: readonly (readonly Issue[])[],
  path: readonly PropertyKey[],
  root: unknown,
): Complaint {
  const shaped = branches.filter(
    (branch) => !branch.some((issue) => issue.code === 'invalid_type' && issue.path.length === 0),
  )
  const fewest = Math.min(...shaped.map((branch) => branch.length))
  const near = shaped.filter((branch) => branch.length === fewest)
  const complaints = (near.length > 0 ? near : branches).flatMap((branch) =>
    branch.slice(0, 1).map((issue) => describe({ ...issue, path: [...path, ...issue.path] }, root)),
  )
  const [first] = complaints
  if (first !== undefined && complaints.length === 1) return first
  const here = path.map(String).join('.')
  const named = complaints.map(({ path: field, expected }) => (field === here ? expected : `${expected} in "${field}"`))
  return { path: here, expected: [...new Set(named)].join(', or '), given: words(valueAt(root, path)) }
}

function expectation(issue: Issue): string {
  if (issue.code === 'invalid_type') return TYPES[issue.expected] ?? issue.expected
  if (issue.code === 'invalid_value') return `one of ${issue.values.map(String).join(', ')}`
  if (issue.code === 'too_small') return `at least ${counted(issue.minimum, issue.origin)}`
  if (issue.code === 'too_big') return `at most ${counted(issue.maximum, issue.origin)}`
  if (issue.code === 'invalid_union' && 'options' in issue) return `one of ${issue.options.map(String).join(', ')}`
  return issue.message
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
}

const UNITS: Readonly<Record<string, string>> = { string: ' character', array: ' item' }

function counted(count: number | bigint, origin: string): string {
  const unit = UNITS[origin]
  return unit === undefined ? String(count) : `${count}${unit}${Number(count) === 1 ? '' : 's'}`
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<PropertyKey, unknown>)[key]
  }
  return value
}

function words(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 200))
  if (Array.isArray(value)) return `an array of ${value.length}`
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : 'an object'
}
