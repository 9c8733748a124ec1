import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import { SCHEMA_FILES } from '@agentproto/manifest'
import { readSchema, schemaPath } from '@agentproto/manifest/node'

test.each(SCHEMA_FILES)('12.C7 the schema %s is complete in itself when it is printed', async (name) => {
  const ajv = new Ajv2020({ strictTypes: false, allowUnionTypes: true })
  addFormats.default(ajv, ['uri', 'date-time'])
  // It throws for a reference that cannot be resolved.
  expect(ajv.compile(await readSchema(name))).toEqual(expect.any(Function))
})

test('12.C7 every schema has a name', async () => {
  const files = await readdir(dirname(schemaPath('acp')))
  const names = files.filter((file) => file.endsWith('.schema.json')).map((file) => file.replace('.schema.json', ''))
  expect(names.toSorted()).toEqual(SCHEMA_FILES.toSorted())
})
