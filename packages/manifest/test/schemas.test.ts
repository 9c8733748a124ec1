import { expect, test } from 'vitest'
import { schemas } from '../src/schemas.js'
import { createAjv } from '../src/validators/compile-validator.js'

test('the schemas are valid draft 2020-12, use only known keywords, and refer to what exists', () => {
  // In its strict mode ajv throws for a keyword that it does not know.
  const ajv = createAjv()
  for (const schema of Object.values(schemas)) expect(ajv.validateSchema(schema), JSON.stringify(ajv.errors)).toBe(true)
  for (const name of Object.keys(schemas)) expect(ajv.getSchema(`${name}.schema.json`)).toBeTypeOf('function')
})
