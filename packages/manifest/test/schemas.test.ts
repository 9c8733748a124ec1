import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { schemas } from '../src/schemas.js'
import { createAjv } from '../src/validators/compile-validator.js'

const inside = new URL('../src/schemas/', import.meta.url)
const published = new URL('../../../schemas/', import.meta.url)

test('the published schemas are the ones that manifests are checked against', async () => {
  for (const name of await readdir(inside)) {
    expect(await readFile(new URL(name, published), 'utf8'), name).toBe(await readFile(new URL(name, inside), 'utf8'))
  }
})

test('the schemas are valid draft 2020-12, use only known keywords, and refer to what exists', () => {
  // In its strict mode ajv throws for a keyword that it does not know.
  const ajv = createAjv()
  for (const schema of Object.values(schemas)) expect(ajv.validateSchema(schema), JSON.stringify(ajv.errors)).toBe(true)
  for (const name of Object.keys(schemas)) expect(ajv.getSchema(`${name}.schema.json`)).toBeTypeOf('function')
})
