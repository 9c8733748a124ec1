import { readdir, readFile } from 'node:fs/promises'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { KEYWORDS } from '../src/schema-validator.js'
import { schemas } from '../src/schema-registry.js'

const inside = new URL('../src/schemas/', import.meta.url)
const published = new URL('../../../schemas/', import.meta.url)

test('the published schemas are the ones that the checker uses', async () => {
  for (const name of await readdir(inside)) {
    expect(await readFile(new URL(name, published), 'utf8'), name).toBe(await readFile(new URL(name, inside), 'utf8'))
  }
})

test('the schemas are valid draft 2020-12, and refer to what is there', () => {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    formats: { uri: true, 'date-time': true },
  })
  for (const schema of Object.values(schemas)) {
    expect(ajv.validateSchema(schema), JSON.stringify(ajv.errors)).toBe(true)
    ajv.addSchema(schema)
  }
  for (const name of Object.keys(schemas)) expect(ajv.getSchema(`${name}.schema.json`)).toBeTypeOf('function')
})

test('the schemas use only keywords that the interpreter knows', () => {
  const unknown = Object.entries(schemas).flatMap(([name, schema]) =>
    keywordsOf(schema)
      .filter((key) => !KEYWORDS.has(key))
      .map((key) => `${name}: ${key}`),
  )
  expect(unknown).toEqual([])
})

/** Every keyword of a schema and the schemas in it. */
function keywordsOf(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([key, value]: [string, unknown]) => {
    if (key === 'properties' || key === '$defs') return [key, ...Object.values(value as object).flatMap(keywordsOf)]
    if (key === 'allOf') return [key, ...(value as readonly unknown[]).flatMap(keywordsOf)]
    return ['items', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else'].includes(key)
      ? [key, ...keywordsOf(value)]
      : [key]
  })
}
