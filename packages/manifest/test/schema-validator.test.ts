import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ErrorObject } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { createValidator } from '../src/schema-validator.js'
import { FORMATS } from '../src/schema-values.js'
import { schemas, validator } from '../src/schema-registry.js'
import type { SchemaName } from '../src/schema-registry.js'
import { DOCUMENTS } from './documents.js'
import { SAMPLE } from './sample.js'

const ajv = new Ajv2020({ allErrors: true, strict: false, formats: FORMATS })
for (const schema of Object.values(schemas)) ajv.addSchema(schema)

/** What ajv says, in our terms: one line an error. */
function oracle(name: string, value: unknown): readonly string[] {
  const validate = ajv.getSchema(`${name}.schema.json`)
  if (validate === undefined || validate(value) === true) return []
  return [...new Set((validate.errors ?? []).flatMap(inOurTerms))].toSorted()
}

function inOurTerms({ keyword, instancePath, params, propertyName }: ErrorObject): readonly string[] {
  // The outcome of `if` says nothing beyond what its branch said, and a key is told by propertyNames alone.
  if (keyword === 'if' || (propertyName !== undefined && keyword !== 'propertyNames')) return []
  const key = (params['missingProperty'] ?? params['additionalProperty'] ?? params['propertyName']) as
    | string
    | undefined
  return [`${instancePath} ${keyword}${key === undefined ? '' : ` ${key}`}`]
}

const ours = (name: string, value: unknown): readonly string[] => {
  const lines = validator.validate(`${name}.schema.json`, value).map(({ keyword, path, key }) => {
    const pointer = path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
    return `${pointer} ${keyword}${key === undefined || keyword === 'uniqueItems' ? '' : ` ${key}`}`
  })
  return [...new Set(lines)].toSorted()
}

const documents: Readonly<Record<SchemaName, unknown>> = {
  ...DOCUMENTS,
  runner: { anything: 1 },
  config: { sessions: { maxSessions: 2 }, durability: 'disk', adapters: ['/srv'], executables: { a: '/b' } },
  'agent-cli': parse(SAMPLE.split('---')[1] ?? '') as unknown,
}

test.each(Object.entries(documents))('%s: a valid document has no errors', (name, document) => {
  expect(ours(name, document)).toEqual([])
  expect(oracle(name, document)).toEqual([])
})

test.each(Object.keys(documents))(
  '%s: ajv finds the same errors in whatever stands in place of the document',
  (name) => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(ours(name, value)).toEqual(oracle(name, value))
      }),
      { numRuns: 200 },
    )
  },
)

test.each(Object.entries(documents))(
  '%s: ajv finds the same errors in a document with parts replaced, removed and added',
  (name, document) => {
    const change = fc.record({
      at: fc.nat(),
      how: fc.constantFrom('replace', 'remove', 'add', 'repeat'),
      key: fc.constantFrom('experimental', 'method', 'kind', 'x', 'cmd', '__proto', 'constructor', 'a b'),
      value: fc.oneof(
        fc.jsonValue({ maxDepth: 2 }),
        fc.constantFrom(
          'workspace',
          'npm',
          'acp',
          'A',
          '',
          'a/b',
          'oauth',
          'prompt',
          'env',
          true,
          0,
          -1,
          1.5,
          'x'.repeat(90),
          'https://a b',
          'É',
        ),
      ),
    })
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const copy = structuredClone(document)
        for (const step of changes) applyChange(copy, step)
        expect(ours(name, copy)).toEqual(oracle(name, copy))
      }),
      { numRuns: 400 },
    )
  },
)

interface Change {
  readonly at: number
  readonly how: string
  readonly key: string
  readonly value: unknown
}

/** Changes one place of the value, picked by number among all its places. */
function applyChange(root: unknown, { at, how, key, value }: Change): void {
  const places = placesOf(root)
  const place = places[at % places.length]
  if (place === undefined) return
  const { parent, step } = place
  if (how === 'remove') Reflect.deleteProperty(parent, step)
  else if (how === 'replace') parent[step] = structuredClone(value)
  else if (Array.isArray(parent)) parent.push(how === 'repeat' ? structuredClone(parent[0]) : structuredClone(value))
  else parent[key] = structuredClone(value)
  // A removed item leaves a hole, which YAML has not.
  if (Array.isArray(parent)) parent.splice(0, parent.length, ...parent.filter((item) => item !== undefined))
}

interface Container {
  [key: string | number]: unknown
}

function placesOf(value: unknown): readonly { readonly parent: Container; readonly step: string | number }[] {
  if (typeof value !== 'object' || value === null) return []
  const parent = value as Container
  return Object.keys(value).flatMap((step) => [{ parent, step }, ...placesOf(parent[step])])
}

test('a reference to nothing and an unknown schema are faults of ours, and thrown', () => {
  expect(() => validator.validate('none.schema.json', {})).toThrow('There is no schema none.schema.json.')
  const broken = createValidator([{ $id: 'a', $ref: '#/$defs/b' }])
  expect(() => broken.validate('a', 1)).toThrow('refers to #/$defs/b')
})
